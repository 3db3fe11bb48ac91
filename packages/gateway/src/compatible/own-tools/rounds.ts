/**
 * Rounds of one answer: a call to a tool of ours is written to the log and answered there, and the provider is asked again,
 * until it says something for the client. The client gets all rounds as one answer, without these calls.
 */
import type { CallPart } from "@palimpsest/core/internal/message";
import { readUsage, type Usage } from "palimpsest/internal/models";
import { ProblemError } from "../../http/problem.ts";
import { parseFields } from "../../http/read-json.ts";
import type { Flight } from "../flight.ts";
import { compactedIn, countSpent, type OutcomeInput, type ReportedCompaction } from "../outcome.ts";
import { estimateOf, originOf, promptNow, type SentPrompt } from "../prompt.ts";
import { askFor, bodyFor, type ClaimedRequest, type ParsedRequest } from "../request.ts";
import { bytesOf, formOf, type UpstreamAnswer } from "../upstream.ts";
import type { AnswerReader, ReadAnswer } from "../vendor.ts";
import { ADDED, MOST_ROUNDS, ownCalls, ownResults } from "./offer.ts";
import type { AnswerStitch } from "./stitch.ts";

export interface AnswerRounds<M> {
  /** All rounds as one answer for the client. */
  readonly answer: UpstreamAnswer;
  /** The last round, or the one under way, as the provider said it. */
  said(): ReadAnswer<M>;
  /** What the last round answers, and the newest compaction that a round after the first came with. */
  asked(): RoundRequest<M>;
  /** Usage of the rounds before the last. */
  spent(): readonly Usage[];
}

interface RoundRequest<M> extends Pick<OutcomeInput<M>, "body"> {
  readonly prompt: SentPrompt<M>;
  readonly compaction: ReportedCompaction | null;
}

interface FirstRound<M> extends RoundRequest<M> {
  readonly answer: UpstreamAnswer;
  readonly flight: Pick<Flight, "abandoned">;
}

export function answerRounds<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  first: FirstRound<M>,
): AnswerRounds<M> {
  const { vendor } = parsed;
  const form = formOf(first.answer);
  const isOurs = (name: string): boolean => turn.tools?.byName.has(name) === true;
  const stitch = vendor.tools.stitch(form, { isOurs, tools: parsed.ownTools?.clients });
  const spent: Usage[] = [];
  const left = first.flight.abandoned;
  let asked: RoundRequest<M> = first;
  let reader = vendor.reader(form);
  async function* rounds(): AsyncGenerator<Uint8Array> {
    let { answer } = first;
    for (let round = 1; ; round += 1) {
      yield* readRound(answer.body, reader, stitch);
      const said = reader.answer();
      const calls = ownCalls(parsed, turn, said);
      if (calls.own.length === 0 || calls.others > 0) return yield Buffer.from(stitch.close("end"));
      stitch.close("again");
      const usage = await keepRound(parsed, turn, { said, prompt: asked.prompt, isLast: round >= MOST_ROUNDS, left });
      if (usage !== null) spent.push(usage);
      reader = vendor.reader(form);
      if (round > MOST_ROUNDS) throw tooManyRounds(calls.own);
      turn.tools?.nextStep();
      const again = await askAgain(parsed, turn, left);
      asked = { ...again, compaction: compactedIn(again.prompt) ?? asked.compaction };
      answer = again.answer;
    }
  }
  const { "content-length": _, ...headers } = first.answer.headers;
  return {
    answer: { ...first.answer, headers, body: failingIn(form, rounds(), parsed) },
    said: () => reader.answer(),
    asked: () => asked,
    spent: () => spent,
  };
}

async function* readRound<M>(
  body: UpstreamAnswer["body"],
  reader: AnswerReader<M>,
  stitch: AnswerStitch,
): AsyncGenerator<Uint8Array> {
  for await (const bytes of body) {
    reader.read(bytes);
    const shown = stitch.add(bytes);
    if (shown !== "") yield Buffer.from(shown);
  }
}

/** A refusal of a later round comes when a stream has begun: then the client hears of it there. */
async function* failingIn<M extends object>(
  form: "stream" | "whole",
  body: AsyncIterable<Uint8Array>,
  { vendor, call }: ParsedRequest<M>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (form === "whole" || !ProblemError.isInstance(error)) throw error;
    const { status, code, message } = error.problem;
    if (status >= 500) call.failed(error);
    yield Buffer.from(vendor.streamFailure({ status, code, message }));
  }
}

interface KeptRound<M> {
  readonly said: ReadAnswer<M>;
  readonly prompt: SentPrompt<M>;
  readonly isLast: boolean;
  readonly left: AbortSignal;
}

/** Writes the answer, then runs its calls of ours and writes their results. */
async function keepRound<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  { said, prompt, isLast, left }: KeptRound<M>,
): Promise<Usage | null> {
  const { call } = parsed;
  const { thread } = turn.claimed;
  const usage = said.usage === null ? null : readUsage(said.usage);
  countSpent(call.meter, usage, usage === null ? estimateOf(parsed, prompt, said) : null);
  if (usage !== null && prompt.as === "view") await thread.report(usage);
  await thread.append([{ id: call.threads.ids(), message: said.message!, ...originOf("whole", prompt) }]);
  const results = await ownResults(parsed, turn, { said, isLast, left });
  await thread.append(results, () => ADDED);
  return usage;
}

function tooManyRounds(calls: readonly CallPart[]): ProblemError {
  const names = [...new Set(calls.map(({ name }) => name))].join(", ");
  const message = `the model called this gateway's own tools (${names}) in more than ${MOST_ROUNDS} rounds without an answer: ask again, or send X-Palimpsest-Tools: off`;
  return new ProblemError(502, "tool-rounds", message);
}

/** Each makes the prompt shorter; a provider that refuses this many refuses for another reason. */
export const MOST_ATTEMPTS = 4;

async function askAgain<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  signal: AbortSignal,
): Promise<Omit<RoundRequest<M>, "compaction"> & { readonly answer: UpstreamAnswer }> {
  for (let attempt = 1; ; attempt += 1) {
    const prompt = await promptNow(parsed, turn, signal);
    if (prompt.messages === null)
      throw new ProblemError(
        400,
        "too-long",
        "the conversation doesn't fit the model's window with the tools' results",
      );
    const body = bodyFor(parsed, prompt);
    const answer = await askFor(parsed, { ...prompt, body }, signal);
    if (answer.status < 400) return { answer, prompt, body };
    const text = (await bytesOf(answer.body)).toString();
    const refusal = { status: answer.status, message: text, responseBody: text };
    const isShorter = attempt < MOST_ATTEMPTS && (await turn.claimed.thread.recover(refusal).catch(() => false));
    if (!isShorter) throw new ProblemError(answer.status, "provider", refusalIn(text));
  }
}

/** In the provider's words, as far as they are known. */
function refusalIn(text: string): string {
  const { error } = parseFields(text) ?? {};
  const message = typeof error === "object" && error !== null && "message" in error ? error.message : null;
  return typeof message === "string" ? message : "the model's provider refused to go on after a tool of this gateway";
}
