/**
 * A `fetch` for model calls whose answers can't fill the memory: a line of an event stream is kept whole until it ends,
 * and any other body until it is complete, so both have a limit. How long a whole stream may be is the caller's business.
 * Redirects are not followed.
 */
import { PalimpsestError } from "@palimpsest/core/errors";
import { directFetch } from "../direct-fetch.ts";

/** Far above a generated image in one event, and above any answer that isn't streamed. */
const LIMITS = { lineBytes: 32 << 20, bodyBytes: 64 << 20 };

export class ResponseTooLarge extends PalimpsestError<"answer-too-long"> {
  static override readonly kind = "ResponseTooLarge";

  constructor(message: string) {
    super("answer-too-long", message);
  }
}

type Fetch = typeof globalThis.fetch;

export function boundedFetch(inner: Fetch | undefined, limits = LIMITS): Fetch {
  const ask = directFetch(inner);
  return async (input, init) => {
    const response = await ask(input, init);
    if (response.body === null) return response;
    const isStream = /event-stream|ndjson/.test(response.headers.get("content-type") ?? "");
    const { status, statusText, headers } = response;
    const body = response.body.pipeThrough(isStream ? boundLines(limits.lineBytes) : boundBody(limits.bodyBytes));
    return new Response(body, { status, statusText, headers });
  };
}

function boundLines(most: number): TransformStream<Uint8Array, Uint8Array> {
  let line = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const first = chunk.indexOf(NEWLINE);
      line += first < 0 ? chunk.length : first;
      if (line > most) return controller.error(tooLarge("a line", most));
      if (first >= 0) line = chunk.length - 1 - chunk.lastIndexOf(NEWLINE);
      controller.enqueue(chunk);
    },
  });
}

const NEWLINE = 10;

function boundBody(most: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > most) controller.error(tooLarge("an answer", most));
      else controller.enqueue(chunk);
    },
  });
}

function tooLarge(what: string, bytes: number): ResponseTooLarge {
  return new ResponseTooLarge(`the provider sent ${what} of more than ${bytes} bytes: it was not read any further`);
}
