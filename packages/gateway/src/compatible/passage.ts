/**
 * An answer on its way: to the client as it comes, and into the log. Its end is held back until the log has it and the
 * thread is free: a client that goes on at once must find its own words.
 */

import { readUsage } from "palimpsest/internal/models";
import { commit } from "palimpsest/internal/threads";
import type { NextStep } from "./answer.ts";
import { UpstreamError } from "./answer-body.ts";
import type { Flight } from "./flight.ts";
import { chainOf } from "./match.ts";
import type { RequestOutcome } from "./outcome.ts";
import { countSpent, type Estimate, tokensIn } from "./outcome.ts";
import { learningFrom, type SentPrompt } from "./prompt.ts";
import type { ClaimedRequest, ParsedRequest } from "./request.ts";
import type { UpstreamAnswer } from "./upstream.ts";
import type { AnswerReader, ReadAnswer } from "./vendor.ts";
import { fieldsOf, parseFields } from "./vendor.ts";

/** An answer on its way to the client and into the log. */
export interface AnswerInProgress<M> {
  readonly flight: Flight;
  readonly answer: UpstreamAnswer;
  readonly form: "stream" | "whole";
  readonly reader: AnswerReader<M>;
  readonly prompt: SentPrompt<M>;
  readonly outcome: RequestOutcome;
  readonly headers: UpstreamAnswer["headers"];
  readonly opening: AnswerOpening;
}

/** What was read of an answer to tell whether it refuses. */
export interface AnswerOpening {
  readonly bytes: readonly Uint8Array[];
  /** Null: it doesn't. */
  readonly error: { readonly status: number; readonly message: string; readonly responseBody: string } | null;
}

type HandOn = <M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  passage: AnswerInProgress<M>,
) => Promise<void>;

export const HAND_ON: Readonly<Record<NextStep["handOn"], HandOn>> = {
  refusal: refusalThrough,
  stream: streamThrough,
  whole: wholeThrough,
};

async function refusalThrough<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  { flight, answer: { status }, outcome, headers, opening }: AnswerInProgress<M>,
): Promise<void> {
  await keepReceipt(parsed, turn, { answer: null, failure: opening.error });
  await turn.claimed.release();
  outcome.note({ status, end: "refused", usage: null });
  await handOver(parsed, flight, { status, headers, pieces: opening.bytes });
}

async function streamThrough<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  passage: AnswerInProgress<M>,
): Promise<void> {
  const { flight, answer, reader, headers, opening } = passage;
  if (!flight.hasHead()) flight.head(answer.status, headers);
  const heldBack: Uint8Array[] = [];
  const handOn = async (bytes: Uint8Array): Promise<void> => {
    if (heldBack.length > 0 || reader.state() !== "open") heldBack.push(bytes);
    else await flight.write(bytes);
  };
  let how: "ended" | "broken" = "ended";
  try {
    for (const bytes of opening.bytes) await handOn(bytes);
    for await (const bytes of answer.body) {
      reader.read(bytes);
      await handOn(bytes);
    }
  } catch (error) {
    // The provider broke off, or nobody hears it any more: what came is kept, and the client sees that it isn't all.
    how = "broken";
    if (error instanceof UpstreamError) parsed.call.failed(error);
  }
  await writeAnswer(parsed, turn, passage);
  for (const bytes of heldBack) await flight.write(bytes);
  flight.end(how);
}

async function wholeThrough<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  passage: AnswerInProgress<M>,
): Promise<void> {
  const { flight, answer, reader, headers } = passage;
  const pieces: Uint8Array[] = [];
  try {
    for await (const bytes of answer.body) {
      reader.read(bytes);
      pieces.push(bytes);
    }
  } catch (error) {
    if (error instanceof UpstreamError) throw error;
    throw new UpstreamError("unreachable", "the model's provider broke off in the middle of its answer", {
      cause: error,
    });
  }
  await writeAnswer(parsed, turn, passage);
  await handOver(parsed, flight, { status: answer.status, headers, pieces });
}

export async function handOver<M extends object>(
  { vendor }: ParsedRequest<M>,
  flight: Flight,
  { status, headers, pieces }: Pick<UpstreamAnswer, "status" | "headers"> & { readonly pieces: readonly Uint8Array[] },
): Promise<void> {
  if (flight.hasHead()) {
    // The client was told to wait for a stream, and this is none.
    const message = messageIn(Buffer.concat(pieces).toString());
    await flight.write(Buffer.from(vendor.streamFailure({ status, code: "provider", message })));
    return flight.end("ended");
  }
  flight.head(status, headers);
  for (const bytes of pieces) await flight.write(bytes);
  flight.end("ended");
}

/** What a provider says went wrong, as far as its words are known. */
function messageIn(text: string): string {
  const { message } = fieldsOf(parseFields(text)?.["error"]);
  return typeof message === "string" ? message : "the model's provider answered with something that is no stream";
}

async function writeAnswer<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  passage: AnswerInProgress<M>,
): Promise<void> {
  await appendAnswer(parsed, turn, passage);
  await keepReceipt(parsed, turn, { answer: passage.reader.answer(), failure: null });
  await turn.claimed.release();
}

/** What is kept of an answer so that it can be given again. What fails is left out: the answer itself is in the log. */
export async function keepReceipt<M extends object>(
  { call }: ParsedRequest<M>,
  { claimed, named }: ClaimedRequest<M>,
  { answer, failure }: { readonly answer: ReadAnswer<unknown> | null; readonly failure: unknown },
): Promise<void> {
  const event = named?.receipt(answer, failure) ?? null;
  if (event === null) return;
  await claimed.thread.act((writer) => commit(writer, [{ kind: "event", event }])).catch(call.unstored);
}

/** In one append: the answer, its usage, and what the conversation is known by from here on. What fails is left out. */
async function appendAnswer<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  { reader, prompt, outcome, answer: { status } }: AnswerInProgress<M>,
): Promise<void> {
  const { call, vendor } = parsed;
  const { claimed, identity, state } = turn;
  const answer = reader.answer();
  const usage = answer.usage === null ? null : readUsage(answer.usage);
  const isWhole = answer.state === "ending" || answer.state === "ended";
  countSpent(call.meter, usage, isWhole && usage !== null ? null : estimateOf(parsed, prompt, answer));
  outcome.note({ status, end: isWhole ? "answered" : answer.state === "failed" ? "failed" : "aborted", usage });
  if (answer.message === null) return;
  const { shape } = vendor;
  const { secret, group, fixed } = identity;
  const origin = isWhole ? (prompt.as === "view" ? {} : { origin: "import" as const }) : { origin: "aborted" as const };
  try {
    const [place] = chainOf([answer.message], { shape, secret, from: state }).places;
    const id = turn.named?.id ?? call.threads.ids();
    const { jobs, queued } = await learningFrom(parsed, turn);
    if (usage !== null && prompt.as === "view") await claimed.thread.report(usage);
    const match = { hash: place!.hash, answer: place!.answer ?? "", group, fixed };
    await claimed.thread.append([{ id, message: answer.message, ...origin }], ([seq]) => ({
      matches: [{ ...match, seq: seq! }],
      jobs: jobs(seq!),
    }));
    queued();
  } catch (error) {
    // The client has its answer; it is written when the conversation comes again.
    call.unstored(error);
  }
}

/** Null: the provider failed before it said anything. */
function estimateOf<M extends object>(
  { bytes }: ParsedRequest<M>,
  { counted }: SentPrompt<M>,
  { state, message }: ReadAnswer<M>,
): Estimate | null {
  if (message === null && state === "failed") return null;
  const output = message === null ? 0 : tokensIn(JSON.stringify(message).length);
  return { input: counted?.count.tokens ?? tokensIn(bytes.length), output };
}
