/**
 * The events of one run as they happen, for any number of readers: each reads from the beginning, so that a transcript,
 * a UI stream and a log can follow the same run. The run goes on whether or not anybody reads; its signal stops it.
 */
import type { UIMessageChunk } from "ai";
import type { AgentEvent, Emit, RunEnd, RunResult, StepEvent } from "./events.ts";
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

// The events of one run, kept for readers that come later. A model that answers in millions of tiny pieces must not
// fill the memory with them: once there are many events, neighbors that say the same in one piece are joined.

/** Where one reader stands: the next event it will be given. */
export interface Reader {
  at: number;
}

export class EventBuffer {
  readonly events: AgentEvent[] = [];
  readonly #readers = new Set<Reader>();
  readonly #roomy: number;

  /** Up to `roomy` events nothing is joined. */
  constructor(roomy = ROOMY) {
    this.#roomy = roomy;
  }

  push(event: AgentEvent): void {
    if (this.events.length >= this.#roomy) this.#joinLast();
    this.events.push(event);
  }

  enter(): Reader {
    const reader = { at: 0 };
    this.#readers.add(reader);
    return reader;
  }

  leave(reader: Reader): void {
    this.#readers.delete(reader);
  }

  /** The last pair between whose events no reader stands; usually it is the last of all. */
  #joinLast(): void {
    for (const at of [this.events.length - 2, this.events.length - 3]) {
      const joined = joinedOf(this.events[at], this.events[at + 1]);
      if (joined === null || [...this.#readers].some((reader) => reader.at === at + 1)) continue;
      this.events.splice(at, 2, joined);
      for (const reader of this.#readers) if (reader.at > at) reader.at--;
      return;
    }
  }
}

const ROOMY = 2_000;
/** So that what is joined stays something that can be sent on at once. */
const MOST_CHARS = 16_384;

function joinedOf(first: AgentEvent | undefined, second: AgentEvent | undefined): AgentEvent | null {
  if (first === undefined || second === undefined) return null;
  if (first.type !== "subagent-event") return joinedPieces(first, second);
  if (second.type !== "subagent-event" || first.threadId !== second.threadId) return null;
  const event = joinedPieces(first.event, second.event);
  return event === null ? null : { ...first, event: event as StepEvent };
}

function joinedPieces(first: AgentEvent, second: AgentEvent): AgentEvent | null {
  // The latest progress stands for what was before.
  if (first.type === "tool-progress")
    return second.type === first.type && first.callId === second.callId ? second : null;
  if (first.type === "tool-input-delta")
    return second.type === first.type && first.callId === second.callId ? joinedText(first, second) : null;
  if (first.type !== "text-delta" && first.type !== "reasoning-delta") return null;
  return second.type === first.type && first.id === second.id ? joinedText(first, second) : null;
}

function joinedText<E extends { readonly text: string }>(first: E, second: { readonly text: string }): E | null {
  const text = first.text + second.text;
  return text.length > MOST_CHARS ? null : { ...first, text };
}
