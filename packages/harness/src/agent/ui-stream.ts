/**
 * A run's events as the AI SDK's UI message chunks, so that `useChat` works: one message per run, a part per text, tool
 * call, compaction and sub-agent. A compaction is a `data-compaction` part; the summarizer's own words are never in here.
 */
import type { UIMessageChunk } from "ai";
import type { AgentEvent, RunEnd } from "./events.ts";

export function uiMessageStream(events: AsyncIterable<AgentEvent>): ReadableStream<UIMessageChunk> {
  const chunks = chunksOf(events);
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}

async function* chunksOf(events: AsyncIterable<AgentEvent>): AsyncGenerator<UIMessageChunk, undefined> {
  const parts = new OpenParts();
  for await (const event of events) {
    if (event.type !== "text-delta" && event.type !== "reasoning-delta") yield* parts.close();
    yield* chunksFor(event, parts);
  }
  return undefined;
}

/** A part of text is open from its first piece until something else comes. */
class OpenParts {
  #open: { readonly kind: "text" | "reasoning"; readonly id: string } | null = null;
  compactions = 0;
  stepOpen = false;

  *piece(kind: "text" | "reasoning", id: string, delta: string): Generator<UIMessageChunk> {
    if (this.#open?.id !== id) {
      yield* this.close();
      this.#open = { kind, id };
      yield { type: `${kind}-start`, id };
    }
    yield { type: `${kind}-delta`, id, delta };
  }

  *close(): Generator<UIMessageChunk> {
    if (this.#open !== null) yield { type: `${this.#open.kind}-end`, id: this.#open.id };
    this.#open = null;
  }
}

function* chunksFor(event: AgentEvent, parts: OpenParts): Generator<UIMessageChunk> {
  switch (event.type) {
    case "run-start":
      return yield { type: "start", messageId: event.runId };
    case "step-start":
      parts.stepOpen = true;
      return yield { type: "start-step" };
    case "text-delta":
      return yield* parts.piece("text", event.id, event.text);
    case "reasoning-delta":
      return yield* parts.piece("reasoning", event.id, event.text);
    case "tool-start":
      return yield {
        type: "tool-input-available",
        toolCallId: event.callId,
        toolName: event.name,
        input: event.input,
      };
    case "tool-end":
      return yield toolOutput(event);
    case "compaction-end":
      if (event.outcome.kind === "unchanged") return;
      return yield { type: "data-compaction", id: `compaction-${++parts.compactions}`, data: compactionData(event) };
    case "subagent-start":
    case "subagent-step":
    case "subagent-end":
      // One part per child, replaced as it goes on.
      return yield { type: "data-subagent", id: event.threadId, data: event };
    case "title-set":
      return yield { type: "data-title", data: { title: event.title } };
    case "question-ask":
      return yield { type: "data-question", data: { question: event.question, options: event.options } };
    case "step-end":
      parts.stepOpen = false;
      return yield { type: "finish-step" };
    case "run-end":
      return yield* endChunks(event.end, parts);
    default:
      return;
  }
}

function toolOutput({ callId, output, isError }: AgentEvent & { type: "tool-end" }): UIMessageChunk {
  if (!isError) return { type: "tool-output-available", toolCallId: callId, output };
  return { type: "tool-output-error", toolCallId: callId, errorText: String(output) };
}

/** The numbers of a compaction; not the messages, which the browser already shows. */
function compactionData({ outcome }: AgentEvent & { type: "compaction-end" }) {
  if (outcome.kind === "unchanged") return null;
  const { rung, reason, tokensBefore, tokensAfter, hidden, ms } = outcome;
  return { rung, reason, tokensBefore, tokensAfter, hidden, ms };
}

function* endChunks(end: RunEnd, parts: OpenParts): Generator<UIMessageChunk> {
  if (parts.stepOpen) yield { type: "finish-step" };
  switch (end.kind) {
    case "answered":
      return yield { type: "finish", finishReason: end.finish as "stop" };
    case "asked":
      return yield { type: "finish", finishReason: "stop" };
    case "step-limit":
      return yield { type: "finish", finishReason: "tool-calls" };
    case "aborted":
      return yield { type: "abort" };
    case "busy":
      return yield { type: "error", errorText: "another run holds this thread" };
    case "failed":
      return yield { type: "error", errorText: end.message };
  }
}
