/**
 * An answer of another vendor's model, or of the offline one, in the protocol of the request: the messages go through
 * their shape to the AI SDK's model, and what it says is written as the vendor of the request would write it.
 */

import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { type ResolvedModel, resolveModel } from "palimpsest/models";
import { type HttpProblem, problemOf } from "../http/problem.ts";
import { fieldsOf } from "../http/read-json.ts";
import { callOptions } from "./converted-prompt.ts";
import type { ParsedRequest } from "./request.ts";
import { fetchWithin, keyMissing, type UpstreamAnswer } from "./upstream.ts";
import { writtenAnswer } from "./written-answer.ts";

export async function convertedAnswer<M extends object>(
  parsed: ParsedRequest<M>,
  messages: readonly M[],
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const { call, vendor, request, body } = parsed;
  try {
    const options = callOptions({ request, messages, body }, vendor.shape);
    const { language } = await modelOf(parsed);
    const { stream } = await language.doStream({ ...options, abortSignal: signal });
    const writer = vendor.writer({ id: call.threads.ids().replaceAll("-", ""), model: request.model, body });
    const pieces = piecesOf(stream);
    // Awaited here, so that what it fails with is caught below.
    return await (request.stream ? streamed(writer, pieces) : whole(writer, pieces));
  } catch (error) {
    if (signal.aborted) throw error;
    const { headers, ...failure } = convertedFailure(error);
    if (failure.status === 500 || failure.code === "redirected") call.failed(error);
    const answer = writtenAnswer(failure.status, "whole", [JSON.stringify(vendor.failure(failure))]);
    return { ...answer, headers: { ...answer.headers, ...headers } };
  }
}

/** With the key that was chosen for it: that of the request, where one came that is for it. */
async function modelOf<M extends object>({ call, deps: { settings, env }, target }: ParsedRequest<M>) {
  const surroundings = { env, fetch: fetchWithin(call.bounds) };
  if (settings.models.length === 0) return resolveModel(settings, null, surroundings);
  const { entry, key } = target;
  const own = key === null ? entry : { ...entry, api_key: key };
  try {
    return await resolveModel({ ...settings, models: [own] }, entry.name, surroundings);
  } catch (error) {
    throw fieldsOf(error)["code"] === "no-key" ? keyMissing(target) : error;
  }
}

async function whole(writer: AnswerWriter, pieces: AsyncIterable<AnswerPiece>): Promise<UpstreamAnswer> {
  for await (const piece of pieces) writer.add(piece);
  return writtenAnswer(200, "whole", [JSON.stringify(writer.whole())]);
}

async function streamed(writer: AnswerWriter, pieces: AsyncGenerator<AnswerPiece>): Promise<UpstreamAnswer> {
  // A refusal comes before the first word, and has a status of its own.
  const first = await pieces.next();
  async function* texts(): AsyncGenerator<string> {
    yield writer.begin();
    if (!first.done) yield writer.add(first.value);
    for await (const piece of pieces) yield writer.add(piece);
  }
  return writtenAnswer(200, "stream", texts());
}

/* Errors of another vendor's model, translated for the client. */

/** The answer broke off, by an error or without its end. */
export class BrokenAnswer extends Error {
  constructor(cause: unknown) {
    super("the model's answer broke off", { cause });
  }
}

export function convertedFailure(error: unknown): HttpProblem {
  const own = ownError(error);
  if (own !== null) return problemOf(own);
  const { name, message, statusCode, responseHeaders, cause } = (error ?? {}) as CallError;
  // A kind of content or tool that the provider has no word for.
  if (name === "AI_UnsupportedFunctionalityError")
    return {
      status: 400,
      code: "unsupported",
      message: `this model is another vendor's and can't take it: ${message}`,
    };
  if (typeof statusCode === "number" && typeof message === "string")
    return statusCode < 400 ? badResponse("answered with something that can't be read") : refusal();
  if (name === "AI_APICallError") {
    const why = fieldsOf(cause)["code"] ?? message;
    return { status: 502, code: "unreachable", message: `the model's provider can't be reached (${why})` };
  }
  if (!(error instanceof BrokenAnswer)) return problemOf(error);
  if (cause === null) return badResponse("ended its answer without an end");
  const inner = convertedFailure(cause);
  if (inner.status !== 500 || inner.code !== "unexpected") return inner;
  return { status: 502, code: "unreachable", message: "the model's provider broke off in the middle of its answer" };

  function refusal(): HttpProblem {
    const after = responseHeaders?.["retry-after"];
    const headers = after === undefined ? {} : { "retry-after": after };
    return { status: statusCode!, code: "provider", message: message!, headers };
  }
}

/** An error of ours, such as a limit's, which the SDK may have wrapped; null: there is none. */
function ownError(error: unknown): Error | null {
  if (!(error instanceof Error)) return null;
  return PalimpsestError.isInstance(error) ? error : ownError(error.cause);
}

type CallError = Partial<Error> & {
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
};

function badResponse(what: string): HttpProblem {
  return { status: 502, code: "bad-response", message: `the model's provider ${what}` };
}

/* A model's stream in the few pieces that every protocol can express. */

export type AnswerPiece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly call: PieceCall }
  | { readonly type: "end"; readonly end: PieceEnd };

export interface PieceCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it, which may be none; never empty. */
  readonly input: string;
}

export interface PieceEnd {
  readonly reason: "stop" | "length" | "calls" | "filtered";
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  /** Of the output. */
  readonly reasoning: number;
}

/** How a vendor writes an answer that isn't its own. */
export interface AnswerWriter {
  begin(): string;
  add(piece: AnswerPiece): string;
  /** The whole answer as one body, once all pieces were added. */
  whole(): unknown;
}

type SdkStream = Awaited<ReturnType<ResolvedModel["language"]["doStream"]>>["stream"];
type FinishPart = Extract<SdkStream extends ReadableStream<infer P> ? P : never, { readonly type: "finish" }>;

/** Throws where the model says that something went wrong, or ends without saying how. */
async function* piecesOf(stream: SdkStream): AsyncGenerator<AnswerPiece> {
  let isEnded = false;
  try {
    for await (const part of stream) {
      if (part.type === "text-delta" && part.delta !== "") yield { type: "text", text: part.delta };
      if (part.type === "tool-call")
        yield { type: "call", call: { id: part.toolCallId, name: part.toolName, input: part.input || "{}" } };
      if (part.type === "error") throw part.error;
      if (part.type !== "finish") continue;
      isEnded = true;
      yield { type: "end", end: endOf(part) };
    }
  } catch (error) {
    throw new BrokenAnswer(error);
  }
  if (!isEnded) throw new BrokenAnswer(null);
}

function endOf({ usage: { inputTokens, outputTokens }, finishReason }: FinishPart): PieceEnd {
  return {
    reason: REASONS[finishReason.unified] ?? "stop",
    input: inputTokens.total ?? 0,
    output: outputTokens.total ?? 0,
    cached: inputTokens.cacheRead ?? 0,
    reasoning: outputTokens.reasoning ?? 0,
  };
}

const REASONS: Readonly<Record<string, PieceEnd["reason"]>> = {
  stop: "stop",
  length: "length",
  "tool-calls": "calls",
  "content-filter": "filtered",
};
