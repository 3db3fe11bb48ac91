/**
 * An answer on its way: to the client as it comes, and into the log. Its end is held back until the log has it and the
 * thread is free: a client that goes on at once must find its own words.
 */

import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { readUsage } from "palimpsest/internal/models";
import { commit } from "palimpsest/internal/threads";
import type { WriteAlso } from "palimpsest/session";
import type { After } from "../http/event-stream.ts";
import { ProblemError } from "../http/problem.ts";
import { fieldsOf, type JsonFields, parseFields } from "../http/read-json.ts";
import type { NextStep } from "./answer.ts";
import type { Flight } from "./flight.ts";
import { chainOf } from "./match.ts";
import { countSpent, type RequestOutcome, totalOf } from "./outcome.ts";
import { ADDED, ownCalls, ownResults } from "./own-tools/offer.ts";
import type { AnswerRounds } from "./own-tools/rounds.ts";
import { estimateOf, learningFrom, originOf, type SentPrompt } from "./prompt.ts";
import type { ClaimedRequest, ParsedRequest } from "./request.ts";
import type { UpstreamAnswer } from "./upstream.ts";
import type { AnswerReader, ReadAnswer } from "./vendor.ts";

/** An answer on its way to the client and into the log. */
export interface AnswerInProgress<M> {
  readonly flight: Flight;
  readonly answer: UpstreamAnswer;
  readonly form: "stream" | "whole";
  /** Of what the client gets. */
  readonly reader: AnswerReader<M>;
  /** Null if no tools of ours are offered. */
  readonly rounds: AnswerRounds<M> | null;
  readonly prompt: SentPrompt<M>;
  /** Of all rounds so far: the head of a stream tells of the first, that of a whole answer of the last. */
  outcome(): RequestOutcome;
  headers(): UpstreamAnswer["headers"];
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
  outcome().note({ status, end: "refused", usage: null });
  await handOver(parsed, flight, { status, headers: headers(), pieces: opening.bytes });
}

async function streamThrough<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  passage: AnswerInProgress<M>,
): Promise<void> {
  const { flight, answer, reader, headers, opening } = passage;
  if (!flight.hasHead()) flight.head(answer.status, headers());
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
    // The provider broke off or the client left: what came is kept, and the client sees that it isn't all.
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
    if (error instanceof UpstreamError || ProblemError.isInstance(error)) throw error;
    throw new UpstreamError("unreachable", "the model's provider broke off in the middle of its answer", {
      cause: error,
    });
  }
  await writeAnswer(parsed, turn, passage);
  await handOver(parsed, flight, { status: answer.status, headers: headers(), pieces });
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
  passage: AnswerInProgress<M>,
): Promise<void> {
  const {
    reader,
    rounds,
    outcome,
    answer: { status },
  } = passage;
  const { call, vendor } = parsed;
  const { claimed, identity, state } = turn;
  const shown = reader.answer();
  const answer = rounds?.said() ?? shown;
  const { prompt } = rounds?.asked() ?? passage;
  const usage = answer.usage === null ? null : readUsage(answer.usage);
  const isWhole = answer.state === "ending" || answer.state === "ended";
  countSpent(call.meter, usage, isWhole && usage !== null ? null : estimateOf(parsed, prompt, answer));
  const end = isWhole ? "answered" : shown.state === "failed" ? "failed" : "aborted";
  outcome().note({ status, end, usage: totalOf([...(rounds?.spent() ?? []), usage]) });
  if (answer.message === null || shown.message === null) return;
  const { shape } = vendor;
  const { secret, group, fixed } = identity;
  try {
    const [place] = chainOf([shown.message], { shape, secret, from: state }).places;
    const id = turn.named?.id ?? call.threads.ids();
    const { jobs, queued } = await learningFrom(parsed, turn);
    if (usage !== null && prompt.as === "view") await claimed.thread.report(usage);
    const match = { hash: place!.hash, answer: place!.answer ?? "", group, fixed };
    const known: WriteAlso = (seqs) => {
      const seq = seqs.at(-1)!;
      return { matches: [{ ...match, seq }], jobs: jobs(seq) };
    };
    const given = { id, message: answer.message, ...originOf(isWhole ? "whole" : "part", prompt) };
    const isMixed = turn.tools !== null && ownCalls(parsed, turn, answer).own.length > 0;
    await claimed.thread.append([given], isMixed ? undefined : known);
    // Beside the client's own calls: their results are there before the client's.
    if (isMixed) {
      const results = await ownResults(parsed, turn, { said: answer, left: passage.flight.abandoned });
      await claimed.thread.append(results, (seqs) => ({ ...known(seqs), ...ADDED }));
    }
    queued();
  } catch (error) {
    // The client has its answer; it is written when the conversation comes again.
    call.unstored(error);
  }
}

/*
 * An answer's bytes, as long as they are not too many and, in a stream, go on saying something: a provider that sends
 * nothing but comments would hold its client's place without end.
 */

export interface AnswerBounds {
  /** The most that is read. */
  readonly bytes: number;
  /** How long a stream may say nothing; null: no limit. */
  readonly idleMs: number | null;
  readonly after: After;
}

interface BoundedOptions extends AnswerBounds {
  readonly form: "stream" | "whole";
  /** Ends the answer, so that reading on fails with this error. */
  readonly stop: (error: UpstreamError) => void;
}

export async function* boundedBody(
  body: AsyncIterable<Uint8Array>,
  { form, bytes, idleMs, after, stop }: BoundedOptions,
): AsyncGenerator<Uint8Array> {
  const wait = (): (() => void) =>
    idleMs === null || form === "whole" ? () => {} : after(idleMs, () => stop(idle(idleMs)));
  const speaks = speaking();
  let size = 0;
  let cancel = wait();
  try {
    for await (const piece of body) {
      size += piece.length;
      if (size > bytes) throw tooLong(bytes);
      if (!speaks(piece)) yield piece;
      else {
        // A client that reads slowly is no silence of the provider's.
        cancel();
        yield piece;
        cancel = wait();
      }
    }
  } finally {
    cancel();
  }
}

export function tooLong(bytes: number): UpstreamError {
  return new UpstreamError("answer-too-long", `the model's provider sent more than ${bytes} bytes: they were not read`);
}

function idle(ms: number): UpstreamError {
  return new UpstreamError("timed-out", `the model's provider has said nothing for ${ms / 1000} s`);
}

/** Whether a piece of a stream holds anything but comments, empty lines and pings, wherever pieces are cut. */
function speaking(): (piece: Uint8Array) => boolean {
  let line: "begins" | "comment" | "text" = "begins";
  return (piece) => {
    if (line === "begins" && isPing(piece)) return false;
    for (let at = 0; at < piece.length; at += 1) {
      if (line === "comment") {
        const end = piece.indexOf(NEWLINE, at);
        if (end === -1) return false;
        at = end;
      }
      const byte = piece[at];
      if (byte === NEWLINE) line = "begins";
      else if (byte === COLON && line === "begins") line = "comment";
      else if (byte !== RETURN) {
        line = lineAfter(piece);
        return true;
      }
    }
    return false;
  };
}

/** Where the line stands behind a piece that has said something. */
function lineAfter(piece: Uint8Array): "begins" | "comment" | "text" {
  const last = piece.lastIndexOf(NEWLINE);
  if (last === piece.length - 1) return "begins";
  return last !== -1 && piece[last + 1] === COLON ? "comment" : "text";
}

const NEWLINE = 10;
const RETURN = 13;
const COLON = 58;

/** Anthropic's keep-alive. */
function isPing(piece: Uint8Array): boolean {
  return (
    piece.length < 200 && /^(?:event: ping\r?\ndata: \{"type": ?"ping"\}\r?\n\r?\n)+$/.test(String(Buffer.from(piece)))
  );
}

/** Server-sent events as their bytes come: whole events, whatever way the bytes were cut. */

export interface UpstreamEvent {
  readonly name: string | null;
  readonly data: string;
}

export function eventParser(): (bytes: Uint8Array) => UpstreamEvent[] {
  const decoder = new TextDecoder();
  // Of an event that hasn't ended: joined once, at its end, so that a long one isn't searched again with every piece.
  let pieces: string[] = [];
  let last = "";
  return (bytes) => {
    const text = (last + decoder.decode(bytes, { stream: true })).replaceAll("\r\n", "\n");
    const end = text.lastIndexOf("\n\n");
    // What may be the beginning of an end is looked at again with the next piece.
    const kept = lineEndsIn(text.slice(-3));
    if (end === -1) {
      last = text.slice(text.length - kept);
      pieces.push(text.slice(0, text.length - kept));
      return [];
    }
    const blocks = (pieces.join("") + text.slice(0, end)).split("\n\n");
    pieces = [];
    last = text.slice(end + 2);
    return blocks.flatMap(eventIn);
  };
}

/** A block without data is a comment. */
function eventIn(block: string): UpstreamEvent[] {
  let name: string | null = null;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
    else if (line.startsWith("event:")) name = line.slice(6).trim();
  }
  return data.length === 0 ? [] : [{ name, data: data.join("\n") }];
}

/** Hands on what each event holds that is an object, with its text. */
export function objectReader(
  take: (fields: Readonly<Record<string, unknown>>, data: string) => void,
): (bytes: Uint8Array) => void {
  const parse = eventParser();
  return (bytes) => {
    for (const event of parse(bytes)) {
      const fields = parseFields(event.data);
      if (fields !== null) take(fields, event.data);
    }
  };
}

/** How many characters of line ends the text ends with. */
function lineEndsIn(text: string): number {
  let count = 0;
  while (count < text.length && "\r\n".includes(text.at(-1 - count)!)) count += 1;
  return count;
}

/* Reader for an answer that is not streamed. */

export function wholeReader<M>(answerIn: (body: JsonFields | null) => ReadAnswer<M>): AnswerReader<M> {
  const pieces: Uint8Array[] = [];
  const answer = () => answerIn(parseFields(Buffer.concat(pieces).toString()));
  return {
    read: (bytes) => void pieces.push(bytes),
    state: () => answer().state,
    answer,
  };
}

/** The provider can't be reached, broke off, redirected, sent too much or stayed silent. The message is for the operator's log. */
export class UpstreamError extends PalimpsestError<"unreachable" | "redirected" | "answer-too-long" | "timed-out"> {
  static override readonly kind = "UpstreamError";
  /** What a client is told: without addresses of the operator's. */
  readonly told: string;

  constructor(
    code: UpstreamError["code"],
    told: string,
    more: { readonly message?: string; readonly cause?: unknown } = {},
  ) {
    super(code, more.message ?? told, more);
    this.told = told;
  }
}
