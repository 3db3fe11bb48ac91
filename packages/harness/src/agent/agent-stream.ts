/**
 * The events of one run as they happen, for any number of readers: each reads from the beginning, so that a transcript,
 * a UI stream and a log can follow the same run. The run goes on whether or not anybody reads; its signal stops it.
 */
import type { UIMessageChunk } from "ai";
import { EventBuffer } from "./event-buffer.ts";
import type { AgentEvent, Emit, RunEnd, RunResult } from "./events.ts";
import { type UIStreamOptions, uiMessageStream } from "./ui/ui-stream.ts";

export interface AgentStream<O = unknown> extends AsyncIterable<AgentEvent> {
  readonly threadId: string;
  /**
   * Known before the first word: `started` once the thread is held and what was said is in the log, else how the run
   * ended (`busy`, `failed`), so that a server can answer with a status of its own.
   */
  readonly started: Promise<{ readonly kind: "started" } | RunEnd>;
  /** How the run ended, always as a value. */
  readonly result: Promise<RunResult<O>>;
  /** The pieces of text as they come. */
  readonly textStream: AsyncIterable<string>;
  /** For `createUIMessageStreamResponse`, so that `useChat` shows text, tool calls and compactions. */
  toUIMessageStream(options?: UIStreamOptions): ReadableStream<UIMessageChunk>;
}

export function startStream<O>(
  threadId: string,
  work: (emit: Emit, onStart: () => void) => Promise<RunResult>,
): AgentStream<O> {
  const buffer = new EventBuffer();
  let more = Promise.withResolvers<void>();
  let ended = false;
  const wake = (): void => {
    const waiting = more;
    more = Promise.withResolvers<void>();
    waiting.resolve();
  };
  const started = Promise.withResolvers<{ readonly kind: "started" } | RunEnd>();
  const emit: Emit = (event) => {
    buffer.push(event);
    if (event.type === "run-end") started.resolve(event.end);
    wake();
  };
  const result = work(emit, () => started.resolve({ kind: "started" })).finally(() => {
    ended = true;
    wake();
  });
  async function* read(): AsyncGenerator<AgentEvent> {
    const reader = buffer.enter();
    try {
      for (;;) {
        while (reader.at >= buffer.events.length) {
          if (ended) return;
          await more.promise;
        }
        yield buffer.events[reader.at++]!;
      }
    } finally {
      buffer.leave(reader);
    }
  }
  async function* texts(): AsyncGenerator<string> {
    for await (const event of read()) if (event.type === "text-delta") yield event.text;
  }
  return {
    threadId,
    started: started.promise,
    // What a run has read by the schema that its caller gave.
    result: result as Promise<RunResult<O>>,
    [Symbol.asyncIterator]: read,
    textStream: { [Symbol.asyncIterator]: texts },
    toUIMessageStream: (options) => uiMessageStream(read(), options),
  };
}
