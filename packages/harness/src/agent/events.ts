/**
 * Everything a run tells the outside, as one union, and how a run ends. Names are noun-verb; `type` tells them apart.
 * Features add events and ends of their own (`features.ts`). Events carry values that are safe to show and to serialize,
 * never live objects.
 */
import type { CompactionEvent, OverflowEvent } from "../compaction/events.ts";
import type { Usage } from "../models/facts.ts";
import type { EmbeddingEvent } from "../recall/embedder.ts";
import type { AgentError, AgentErrorCode, ErrorFacts } from "./errors.ts";
import type { FeatureEnds, FeatureEvents } from "./features.ts";

export type AgentEvent =
  | { readonly type: "run-start"; readonly threadId: string; readonly runId: string }
  /** Another run holds the thread: this one waits for it, since its caller allows that. */
  | { readonly type: "thread-wait"; readonly renewedAt: string; readonly expiresAt: string; readonly waitMs: number }
  | { readonly type: "step-start"; readonly step: number }
  | StepEvent
  /** The call waits for a person: `agent.thread(id).approve(callId, "yes" | "no")`. */
  | {
      readonly type: "approval-ask";
      readonly callId: string;
      readonly name: string;
      readonly input: unknown;
      readonly reason: string | null;
    }
  | { readonly type: "model-retry"; readonly attempt: number; readonly delayMs: number; readonly reason: string }
  | OverflowEvent
  /** The model failed before it had shown anything: the next one of the agent's list is asked. */
  | { readonly type: "model-fallback"; readonly from: string; readonly to: string; readonly reason: string }
  /** The answer doesn't fit the schema that was asked for: the model is asked once more. */
  | { readonly type: "output-repair"; readonly problem: string }
  | { readonly type: "answer-empty"; readonly step: number; readonly finish: string }
  | { readonly type: "message-append"; readonly seq: number; readonly role: "user" | "assistant" | "tool" | "system" }
  | { readonly type: "step-end"; readonly step: number; readonly finish: string; readonly usage: StepUsage | null }
  | { readonly type: "run-end"; readonly end: RunEnd }
  | CompactionEvent
  /** To `onEvent` alone: it may come after the run's end. */
  | EmbeddingEvent
  | FeatureEvents[keyof FeatureEvents];

/** What is seen of a step while it goes on. */
export type StepEvent =
  /** Pieces of one text share an id. */
  | { readonly type: "text-delta"; readonly id: string; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly id: string; readonly text: string }
  /** The model writes a tool's input. One that is never started was taken back: the model failed, and is asked again. */
  | { readonly type: "tool-input-start"; readonly callId: string; readonly name: string }
  | { readonly type: "tool-input-delta"; readonly callId: string; readonly text: string }
  | {
      readonly type: "tool-start";
      readonly callId: string;
      readonly name: string;
      readonly input: unknown;
      /** One of the provider's own tools, which it runs itself. */
      readonly by?: "provider";
    }
  | {
      readonly type: "tool-progress";
      readonly callId: string;
      readonly name: string;
      /** What a tool that yields has to show so far. */
      readonly output: unknown;
    }
  | {
      readonly type: "tool-end";
      readonly callId: string;
      readonly name: string;
      readonly output: unknown;
      readonly isError: boolean;
      /** It was never run: a person or a rule has refused it. */
      readonly denied?: true;
      readonly ms: number;
    }
  /** What the answer rests on, as the provider says. */
  | {
      readonly type: "source-add";
      readonly id: string;
      readonly title: string | null;
      readonly url?: string;
      readonly document?: { readonly mediaType: string; readonly filename: string | null };
    }
  /** The model has made a file; `data` is base64. */
  | {
      readonly type: "file-add";
      readonly of: "answer" | "reasoning";
      readonly mediaType: string;
      readonly data: string;
    };

const STEP_EVENTS: Readonly<Record<StepEvent["type"], true>> = {
  "text-delta": true,
  "reasoning-delta": true,
  "tool-input-start": true,
  "tool-input-delta": true,
  "tool-start": true,
  "tool-progress": true,
  "tool-end": true,
  "source-add": true,
  "file-add": true,
};

export function isStepEvent(event: AgentEvent): event is StepEvent {
  return Object.hasOwn(STEP_EVENTS, event.type);
}

export type Emit = (event: AgentEvent) => void;

/** What the provider reported. */
export type StepUsage = Usage;

export type RunEnd =
  /** The model has answered; `finish` is the SDK's reason (`stop`, `length`, `content-filter`, ...). */
  | { readonly kind: "answered"; readonly finish: string }
  /** The model calls tools that have no `execute`: the caller runs them and gives the results as the next message. */
  | { readonly kind: "client-calls"; readonly calls: readonly ClientCall[] }
  /** These wait for a person's approval; the next run goes on from there. `clientCalls` are the client's to run. */
  | {
      readonly kind: "approval";
      readonly calls: readonly ClientCall[];
      readonly clientCalls: readonly ClientCall[];
    }
  /** The next call would go beyond what the run may spend; this was spent. `cost` is null where no price is known. */
  | { readonly kind: "budget"; readonly tokens: number; readonly cost: number | null }
  | { readonly kind: "step-limit"; readonly limit: number }
  | { readonly kind: "aborted" }
  /** Another run holds the thread; nothing was written. */
  | { readonly kind: "busy"; readonly renewedAt: string; readonly expiresAt: string }
  | ({ readonly kind: "failed"; readonly code: AgentErrorCode; readonly message: string } & ErrorFacts)
  | FeatureEnds[keyof FeatureEnds];

export interface ClientCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface RunResult<O = unknown> {
  readonly threadId: string;
  readonly runId: string;
  readonly end: RunEnd;
  /** Why it failed, with its cause; null for every other end. */
  readonly error: AgentError | null;
  /** The text of the last answer; what was streamed of it when the run was stopped. */
  readonly text: string;
  /** The answer as data, where the run asked for `output`; null unless it ended `answered`. */
  readonly output: O | null;
  /** Model calls that were answered. */
  readonly steps: number;
  /** Summed over the run's steps: what was paid for, not the size of the context. */
  readonly usage: StepUsage;
}
