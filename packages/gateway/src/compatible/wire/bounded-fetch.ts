/** The same bounds for a provider that is asked through the AI SDK. */
import { type AnswerBounds, boundedBody, tooLong } from "./bounded-body.ts";
import { formOf } from "./upstream.ts";

export function fetchWithin(bounds: AnswerBounds): typeof globalThis.fetch {
  return async (input, init) => {
    const ending = new AbortController();
    const signal = init?.signal == null ? ending.signal : AbortSignal.any([init.signal, ending.signal]);
    const response = await fetch(input, { ...init, signal });
    const { status, statusText, headers, body } = response;
    if (body === null) return response;
    const stop = (error: unknown): void => ending.abort(error);
    if (Number(headers.get("content-length") ?? 0) > bounds.bytes) {
      stop(tooLong(bounds.bytes));
      throw tooLong(bounds.bytes);
    }
    const form = formOf({ headers: { "content-type": headers.get("content-type") ?? "" } });
    const pieces = boundedBody(body, { ...bounds, form, stop });
    return new Response(ReadableStream.from(pieces), { status, statusText, headers });
  };
}
