/** A route's answer as a response. Its request stays under way until the answer is read to the end or its reader has left. */

import { pace, slices } from "palimpsest/internal/threads";
import { Download } from "../http/download.ts";
import { type BodyOptions, EVENT_STREAM_HEADERS, EventStream, eventStreamBody } from "../http/event-stream.ts";
import { Headed, NOTHING, type Route, Stream } from "../http/route.ts";

/** A stream holds its place until its last piece is sent or its reader has left. */
export function responseOf(route: Route, answer: unknown, connection: BodyOptions): Response {
  const { release } = connection;
  const status = route.status ?? 200;
  if (answer instanceof EventStream)
    return new Response(eventStreamBody(answer, connection), {
      headers: { ...EVENT_STREAM_HEADERS, ...answer.headers },
    });
  if (answer === NOTHING) {
    release();
    return new Response(null, { status: 204 });
  }
  if (answer instanceof Download)
    return new Response(released(answer.body, release), { status, headers: answer.headers() });
  if (!(answer instanceof Stream)) {
    release();
    const { body, headers } = answer instanceof Headed ? answer : { body: answer, headers: {} };
    return Response.json(body, { status, headers });
  }
  // Of a connection that closes before anything is written, nothing is ever read.
  connection.signal.addEventListener("abort", release);
  return new Response(ReadableStream.from(encoded(answer.pieces, release)), {
    status,
    headers: { "content-type": answer.type },
  });
}

/** As it comes; its place is free when it was read to the end or its reader has left. */
export function released(body: ReadableStream<Uint8Array>, release: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          release();
          throw error;
        });
        if (!done) return controller.enqueue(value);
        release();
        controller.close();
      },
      async cancel(reason) {
        release();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** In pieces of some size: a message a write would cost more than the message. */
async function* encoded(pieces: Stream["pieces"], release: () => void): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const steps = pace();
  let waiting = "";
  try {
    for await (const piece of pieces) {
      for (const slice of slices(piece)) {
        if (steps.isDue()) await steps.turn();
        waiting += slice;
        if (waiting.length < PIECE) continue;
        yield encoder.encode(waiting);
        waiting = "";
      }
    }
    if (waiting !== "") yield encoder.encode(waiting);
  } finally {
    release();
  }
}

const PIECE = 16_384;
