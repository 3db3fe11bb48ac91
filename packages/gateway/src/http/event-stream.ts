/**
 * Server-sent events as the body of an answer: written as they come, a comment where nothing comes for a while, no faster
 * than they are read. Who doesn't read at all is cut off and may come back; until then nothing is held for them.
 */

interface EventStreamOptions {
  readonly headers?: EventStream["headers"] | undefined;
  readonly onLeave?: (() => void) | undefined;
}

/** An answer that goes on. Each piece is one or more whole events. */
export class EventStream {
  readonly pieces: AsyncIterator<string>;
  readonly headers: Readonly<Record<string, string>>;
  /** The reader has gone before the end. */
  readonly onLeave: () => void;

  constructor(pieces: AsyncIterator<string>, { headers = {}, onLeave = () => {} }: EventStreamOptions = {}) {
    this.pieces = pieces;
    this.headers = headers;
    this.onLeave = onLeave;
  }
}

/** Real or a test's. Calling what comes back stops it. */
export type After = (ms: number, act: () => void) => () => void;

export const afterTime: After = (ms, act) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

/** So often a proxy sees that the connection lives. */
const COMMENT_MS = 15_000;
/** No client that still reads is this slow. */
const UNREAD_MS = 60_000;

export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

export interface BodyOptions {
  readonly after: After;
  /** Called once: at the end, or when the reader is gone. */
  readonly release: () => void;
  /** Aborted when the connection closes, also before anything was written. */
  readonly signal: AbortSignal;
  /** Ends the connection of who doesn't read. */
  readonly cut: () => void;
}

export function eventStreamBody(
  { pieces, onLeave }: EventStream,
  { after, release, signal, cut }: BodyOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<string>> | null = null;
  let stopWatching = (): void => {};
  let isOver = false;
  const finish = (): void => {
    isOver = true;
    stopWatching();
    signal.removeEventListener("abort", leave);
    release();
  };
  const leave = (): void => {
    if (isOver) return;
    finish();
    // Not awaited: it may be waiting for its next event.
    void pieces.return?.();
    onLeave();
  };
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        stopWatching();
        if (isOver) return controller.close();
        next ??= pieces.next();
        const piece = await unlessSilent(next, after).catch((error: unknown) => {
          leave();
          throw error;
        });
        if (piece !== "silent") next = null;
        if (piece !== "silent" && piece.done === true) {
          if (!isOver) finish();
          return controller.close();
        }
        controller.enqueue(encoder.encode(piece === "silent" ? ":\n\n" : piece.value));
        stopWatching = after(UNREAD_MS, () => {
          cut();
          leave();
        });
      },
      cancel: leave,
    },
    // Nothing is made before it is asked for.
    { highWaterMark: 0 },
  );
}

async function unlessSilent<T>(next: Promise<T>, after: After): Promise<T | "silent"> {
  const { promise: silence, resolve } = Promise.withResolvers<"silent">();
  const stop = after(COMMENT_MS, () => resolve("silent"));
  return Promise.race([next, silence]).finally(stop);
}

/** One event. Data of several lines can't come here: it is JSON. */
export function eventText(data: string, { id, name }: { readonly id?: number; readonly name?: string } = {}): string {
  const lines = [id === undefined ? "" : `id: ${id}\n`, name === undefined ? "" : `event: ${name}\n`];
  return `${lines.join("")}data: ${data}\n\n`;
}

/** One event as the vendors write it: its name is its `type`. */
export function typedEvent(event: Readonly<Record<string, unknown>>): string {
  return eventText(JSON.stringify(event), { name: String(event["type"]) });
}
