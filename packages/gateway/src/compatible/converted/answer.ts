/**
 * An answer of another vendor's model, or of the offline one, in the protocol of the request: the messages go through
 * their shape to the AI SDK's model, and what it says is written as the vendor of the request would write it.
 */
import { resolveModel } from "palimpsest/models";
import type { Exchange } from "../exchange.ts";
import { keyMissing } from "../relay.ts";
import { fetchWithin } from "../wire/bounded-fetch.ts";
import type { UpstreamAnswer } from "../wire/upstream.ts";
import { convertedFailure } from "./failure.ts";
import { type AnswerWriter, type Piece, piecesOf } from "./pieces.ts";
import { callOptions } from "./prompt.ts";

export async function convertedAnswer<M extends object>(
  exchange: Exchange<M>,
  messages: readonly M[],
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const { call, vendor, request, body } = exchange;
  try {
    const options = callOptions({ request, messages, body }, vendor.shape);
    const { language } = await modelOf(exchange);
    const { stream } = await language.doStream({ ...options, abortSignal: signal });
    const writer = vendor.writer({ id: call.threads.ids().replaceAll("-", ""), model: request.model, body });
    const pieces = piecesOf(stream);
    // Awaited here, so that what it fails with is caught below.
    return await (request.stream ? streamed(writer, pieces) : whole(writer, pieces));
  } catch (error) {
    if (signal.aborted) throw error;
    const { headers, ...failure } = convertedFailure(error);
    if (failure.status === 500 || failure.code === "redirected") call.failed(error);
    const answer = answerOf(failure.status, JSON_TYPE, [JSON.stringify(vendor.failure(failure))]);
    return { ...answer, headers: { ...answer.headers, ...headers } };
  }
}

/** With the key that was chosen for it: that of the request, where one came that is for it. */
async function modelOf<M extends object>({ call, deps: { settings, env }, target }: Exchange<M>) {
  const surroundings = { env, fetch: fetchWithin(call.bounds) };
  if (settings.models.length === 0) return resolveModel(settings, null, surroundings);
  const { entry, key } = target;
  const own = key === null ? entry : { ...entry, api_key: key };
  try {
    return await resolveModel({ ...settings, models: [own] }, entry.name, surroundings);
  } catch (error) {
    throw (error as { readonly code?: unknown }).code === "no-key" ? keyMissing(target) : error;
  }
}

const JSON_TYPE = "application/json";

async function whole(writer: AnswerWriter, pieces: AsyncIterable<Piece>): Promise<UpstreamAnswer> {
  for await (const piece of pieces) writer.add(piece);
  return answerOf(200, JSON_TYPE, [JSON.stringify(writer.whole())]);
}

async function streamed(writer: AnswerWriter, pieces: AsyncGenerator<Piece>): Promise<UpstreamAnswer> {
  // A refusal comes before the first word, and has a status of its own.
  const first = await pieces.next();
  async function* texts(): AsyncGenerator<string> {
    yield writer.begin();
    if (!first.done) yield writer.add(first.value);
    for await (const piece of pieces) yield writer.add(piece);
  }
  return answerOf(200, "text/event-stream; charset=utf-8", texts());
}

function answerOf(status: number, type: string, texts: Iterable<string> | AsyncIterable<string>): UpstreamAnswer {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for await (const text of texts) if (text !== "") yield Buffer.from(text);
  }
  return { status, headers: { "content-type": type }, body: bytes() };
}
