/**
 * What a question is shown beside it, and what is learned from its answer: only where the request or the configuration asks
 * for it. The log keeps both apart from what the client said. Neither failing is a failure of the request.
 */
import { emptyDocument, type MemoryDocument } from "@palimpsest/core/memory";
import type { Shape } from "@palimpsest/core/message";
import { addQuestionEvidence, givenBlockTokens } from "palimpsest/internal/memory";
import type { NewJob } from "palimpsest/stores";
import { isProviderUser } from "../access/admit.ts";
import type { Engaged, Exchange } from "./exchange.ts";
import { looksUp } from "./policy.ts";

/** Where it stands in the log, and its words. */
export interface Question {
  readonly seq: number;
  readonly words: string;
}

/** A request that ends with words of the user asks something; one that ends with a tool's result goes on. */
export function questionIn<M extends object>(
  messages: readonly M[],
  seqs: readonly number[],
  shape: Shape<M>,
): Question | null {
  const last = messages.at(-1);
  const seq = seqs.at(-1);
  if (last === undefined || seq === undefined || shape.role(last) !== "user") return null;
  const words = shape.parts(last).map((part) => (part.kind === "text" ? part.text : ""));
  return { seq, words: words.join("\n") };
}

/** In tokens; null: nothing was asked for, or nothing matters to the question. */
export async function addEvidence<M extends object>(
  { call, deps, vendor, policy, target }: Exchange<M>,
  { question, thread: { claimed } }: Engaged<M>,
): Promise<number | null> {
  const { evidence, memory, agentName } = policy;
  if (question === null || !looksUp(policy)) return null;
  try {
    const { injection_enabled, evidence_tokens, max_injection_tokens } = deps.settings.memory;
    const known = await deps.memory();
    const remembers = memory === "on" && known !== null && injection_enabled;
    if (!remembers && evidence === "off") return null;
    const { userId } = call.caller;
    const document = async (): Promise<MemoryDocument> =>
      known === null ? emptyDocument() : known.repository.view({ userId, agentName });
    const embedding = await deps.embedding.of(call.caller);
    const added = await claimed.thread.act((writer) =>
      addQuestionEvidence(
        { ...call.threads, ...writer, ...embedding },
        {
          of: question.seq,
          words: question.words,
          shape: vendor.shape,
          window: target.window,
          agentName,
          scope: remembers ? "user" : "thread",
          document,
          evidenceTokens: evidence_tokens,
          memoryTokens: givenBlockTokens(max_injection_tokens),
        },
      ),
    );
    return added?.tokens ?? null;
  } catch {
    return null;
  }
}

export interface Learning {
  /** For the append of the answer, which stands at this place. */
  jobs(seq: number): readonly NewJob[];
  /** That append stands. */
  queued(): void;
}

const NOTHING: Learning = { jobs: () => [], queued: () => {} };

/** Who has shown nothing but a provider's key pays for nothing here, and the operator doesn't pay for them. */
export async function learningFrom<M extends object>(
  { call, deps, policy }: Exchange<M>,
  { thread: { id } }: Engaged<M>,
): Promise<Learning> {
  if (policy.memory === "off" || policy.mode !== "on" || isProviderUser(call.caller)) return NOTHING;
  const queue = (await deps.memory().catch(() => null))?.queue;
  if (queue === undefined) return NOTHING;
  return {
    jobs: (seq) => [queue.job({ agentName: policy.agentName, throughSeq: seq })],
    queued: () => queue.queued({ userId: call.caller.userId, threadId: id }, 1),
  };
}
