/**
 * Plays a transcript under a policy: the requests it would have sent, what they cost with the provider's cache, what of
 * the distant uses was still in the prompt, and what had to be fetched again - a request of its own, and the result is
 * written and carried from then on.
 */
import { messageText } from "@palimpsest/core/internal/compaction";
import { openaiRules } from "@palimpsest/core/internal/message";
import { chargeRequest, costOfSideCall, isCold, type PricedRequest } from "@palimpsest/core/internal/pricing";
import { type OpenAiMessage, openaiShape, violations } from "@palimpsest/core/message";
import type { Prices } from "@palimpsest/core/pricing";
import { askForEvidence } from "./evidence.ts";
import type { Policy, View } from "./policy.ts";
import { questionsOf } from "./questions.ts";
import type { Transcript } from "./transcript.ts";

export interface Played {
  /** In the unit of the prices. */
  cost: number;
  requests: number;
  /** Tokens of all requests together, and how many of them the provider's cache already held. */
  tokens: number;
  reused: number;
  /** Rules of the provider that requests broke. */
  violations: number;
  /** Requests before which the policy made the view smaller. */
  compactions: number;
  /** Distant uses in all, still in the prompt, and else found by recall. */
  asked: number;
  known: number;
  recalled: number;
  /** Questions asked at the end; of their evidence, the shares in the prompt, and with what recall finds, summed up. */
  questions: number;
  evidence: number;
  evidenceWithRecall: number;
  /** The largest request, in tokens. */
  peak: number;
  rereads: number;
  /** Requests that reused less than the one before had sent. */
  breaks: number;
  summarizerCalls: number;
  readonly timeline: Moment[];
}

/** What one request was made of, in tokens. */
export interface Moment {
  readonly turn: number;
  readonly parts: Readonly<Record<MomentPart, number>>;
}

export type MomentPart = "fixed" | "summary" | "user" | "assistant" | "tool";

const ASKING_TOKENS = 60;
/** Seqs of fetched messages: beyond any transcript's own. */
const FETCHED = 1_000_000;

export interface PlayOptions {
  readonly prices: Prices;
  /** How many hits of a search the agent reads. */
  readonly hits: number;
}

export async function play(transcript: Transcript, policy: Policy, { prices, hits }: PlayOptions): Promise<Played> {
  const { turns, meter, fixedTokens } = transcript;
  const questions = questionsOf(transcript, hits);
  const played = nothingPlayed();
  const cashier = chargeInto(played, prices);
  const momentAt = (sentAt: number) => ({ meter, fixedTokens, cache: cashier.cache(sentAt) });
  let view: View = [];
  for (const [index, turn] of turns.entries()) {
    if (openaiShape.role(turn.message) === "assistant" && index > 0) {
      const sentAt = turns[index - 1]!.at;
      const prepared = policy.prepare(view, momentAt(sentAt));
      if (prepared.view !== view) played.compactions++;
      view = prepared.view;
      played.violations += violations(
        view.map(({ message }) => message),
        openaiShape,
        openaiRules,
      ).length;
      for (const call of prepared.calls) played.cost += costOfSideCall(call, prices);
      played.summarizerCalls += prepared.calls.length;
      const { fetched, asked, known, recalled } = await questions.ask(index, view);
      played.asked += asked;
      played.known += known;
      played.recalled += recalled;
      for (const source of fetched) {
        cashier.charge(requestOf(view, transcript, { sentAt, answeredAt: sentAt, output: ASKING_TOKENS }));
        view = [...view, ...fetchedAgain(turns[source]!.message, played.rereads++)];
      }
      const output = turn.output ?? meter.message(turn.message);
      cashier.charge(requestOf(view, transcript, { sentAt, answeredAt: turn.at, output }));
      played.timeline.push({ turn: index, parts: partsOf(view, transcript) });
    }
    view = [...view, { source: "message", seq: index + 1, message: turn.message, addition: null }];
  }
  await askAtEnd(played, transcript, {
    hits,
    prepare: (shownView) => policy.prepare(shownView, momentAt(turns.at(-1)?.at ?? 0)).view,
    view,
  });
  return played;
}

/** All questions are put to one prompt: the one the policy makes when the first of them is asked. Not charged. */
async function askAtEnd(
  played: Played,
  transcript: Transcript,
  { view, hits, prepare }: { view: View; hits: number; prepare: (view: View) => View },
): Promise<void> {
  const [first] = transcript.questions;
  if (first === undefined) return;
  const seq = transcript.turns.length + 1;
  const message = openaiShape.turn("user", first.text);
  const request = prepare([...view, { source: "message", seq, message, addition: null }]);
  const { questions, inPrompt, withRecall } = await askForEvidence(transcript, request, hits);
  Object.assign(played, { questions, evidence: inPrompt, evidenceWithRecall: withRecall });
}

function nothingPlayed(): Played {
  const counts = {
    asked: 0,
    known: 0,
    recalled: 0,
    questions: 0,
    evidence: 0,
    evidenceWithRecall: 0,
    peak: 0,
    rereads: 0,
    breaks: 0,
    summarizerCalls: 0,
  };
  return {
    cost: 0,
    requests: 0,
    tokens: 0,
    reused: 0,
    violations: 0,
    compactions: 0,
    ...counts,
    timeline: [],
  };
}

function partsOf(view: View, { meter, fixedTokens }: Transcript): Moment["parts"] {
  const parts = { fixed: fixedTokens, summary: 0, user: 0, assistant: 0, tool: 0 };
  for (const { source, message } of view) {
    const role = openaiShape.role(message);
    parts[source === "summary" ? "summary" : role === "system" ? "fixed" : role] += meter.message(message);
  }
  return parts;
}

function chargeInto(played: Played, prices: Prices) {
  let previous: PricedRequest | null = null;
  return {
    cache: (sentAt: number): "cold" | "warm" => {
      return isCold(previous?.answeredAt ?? null, sentAt, prices) ? "cold" : "warm";
    },
    charge(request: PricedRequest): void {
      const { cost, reused, fresh } = chargeRequest(previous, request, prices);
      played.cost += cost;
      played.requests++;
      played.tokens += reused + fresh;
      played.reused += reused;
      played.peak = Math.max(played.peak, reused + fresh);
      if (previous !== null && reused < tokensOf(previous)) played.breaks++;
      previous = request;
    },
  };
}

function requestOf(
  view: View,
  { meter, fixedTokens }: Transcript,
  about: Pick<PricedRequest, "sentAt" | "answeredAt" | "output">,
): PricedRequest {
  const messages = view.map(({ message }) => ({ key: message, tokens: meter.message(message) }));
  return { ...about, pieces: [{ key: "fixed", tokens: fixedTokens }, ...messages] };
}

function tokensOf({ pieces }: PricedRequest): number {
  return pieces.reduce((sum, piece) => sum + piece.tokens, 0);
}

function fetchedAgain(original: OpenAiMessage, number: number): View {
  const id = `fetch-${number}`;
  const input = JSON.stringify({ seq: number });
  const messages: OpenAiMessage[] = [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "recall_read", arguments: input } }],
    },
    { role: "tool", tool_call_id: id, content: messageText(original, openaiShape) },
  ];
  return messages.map((message, half) => ({
    source: "message",
    seq: FETCHED + 2 * number + half,
    message,
    addition: null,
  }));
}
