/**
 * Lets a client know that it is not forgotten while a summary is written before its question goes on: clients give up after
 * some minutes without a word. From the first comment on the answer has begun, so that a later failure goes into the stream.
 */
import type { After } from "../../http/event-stream.ts";
import type { Flight } from "./flight.ts";

const EVERY_MS = 10_000;
/** A comment: all three protocols' clients pass over it, also before the first event. */
const COMMENT = Buffer.from(": a summary is being written\n\n");

export async function keepAlive<T>(
  work: Promise<T>,
  flight: Pick<Flight, "hasHead" | "head" | "write">,
  { after, headers }: { readonly after: After; readonly headers: Readonly<Record<string, string>> },
): Promise<T> {
  const tell = (): void => {
    if (!flight.hasHead()) flight.head(200, { ...headers, "content-type": "text/event-stream" });
    void flight.write(COMMENT);
    cancel = after(EVERY_MS, tell);
  };
  let cancel = after(EVERY_MS, tell);
  try {
    return await work;
  } finally {
    cancel();
  }
}
