/** The pieces of an answer, and how a step's events make them grow. The same for an agent and for its sub-agents. Pure. */
import type { PageAgentEvent } from "./events.ts";

export type ShownPart = UiTextPart | UiCallPart | UiImagePart | UiFilePart | UiOtherPart;

export interface UiTextPart {
  readonly kind: "text" | "reasoning";
  readonly id: string;
  readonly text: string;
  /** Of the whole text, where this is its beginning. */
  readonly chars?: number;
}

export interface UiCallPart {
  readonly kind: "call";
  readonly id: string;
  readonly name: string;
  /** JSON text, whole or as far as it is written. */
  readonly input: string;
  readonly inputChars: number;
  /** `open`: nothing has answered it. `waiting`: for a person. */
  readonly state: "writing" | "running" | "open" | "waiting" | "done" | "failed" | "denied";
  readonly output: string | null;
  readonly outputChars?: number;
  readonly ms?: number;
  readonly child: CallChild | null;
}

/** A sub-agent, at work on what the call asked for. */
export interface CallChild {
  readonly agent: string;
  readonly thread: string;
  readonly about: string;
  readonly status: string;
  readonly parts: readonly ShownPart[];
}

interface UiImagePart {
  readonly kind: "image";
  readonly mediaType: string;
  /** `data:`; null: it isn't embedded, or too large to be. */
  readonly url: string | null;
}

interface UiFilePart {
  readonly kind: "file";
  readonly mediaType: string;
  readonly name: string;
}

interface UiOtherPart {
  readonly kind: "other";
  readonly name: string;
  readonly text: string;
}

/** The same array where the event says nothing about these. */
export function withStepEvent(parts: readonly ShownPart[], event: PageAgentEvent): readonly ShownPart[] {
  switch (event.type) {
    case "text-delta":
    case "reasoning-delta":
      return withText(parts, event.type === "text-delta" ? "text" : "reasoning", event);
    case "tool-input-start":
      return [...parts, { ...CALL, id: event.callId, name: event.name, state: "writing" }];
    case "tool-input-delta":
      return inPart(parts, event.callId, (part) => withInput(part, part.input + event.text));
    case "tool-start": {
      const input = textOf(event.input);
      const started = {
        id: event.callId,
        name: event.name,
        input,
        inputChars: input.length,
        state: "running",
      } as const;
      const isKnown = parts.some((part) => part.kind === "call" && part.id === event.callId);
      if (!isKnown) return [...parts, { ...CALL, ...started }];
      return inPart(parts, event.callId, (part) => ({ ...part, ...started }));
    }
    case "tool-progress":
      return inPart(parts, event.callId, (part) => withOutput(part, event.output));
    case "tool-end": {
      const state = event.denied === true ? "denied" : event.isError ? "failed" : "done";
      return inPart(parts, event.callId, (part) => ({ ...withOutput(part, event.output), state, ms: event.ms }));
    }
    case "file-add":
      return event.mediaType.startsWith("image/")
        ? [...parts, { kind: "image", mediaType: event.mediaType, url: `data:${event.mediaType};base64,${event.data}` }]
        : [...parts, { kind: "file", mediaType: event.mediaType, name: "a file" }];
    case "source-add":
      return [...parts, { kind: "other", name: "source", text: event.title ?? event.url ?? event.id }];
    default:
      return parts;
  }
}

/** Nothing goes on any more. */
export function endedParts(parts: readonly ShownPart[]): readonly ShownPart[] {
  return parts.map((part) =>
    part.kind === "call" && (part.state === "writing" || part.state === "running") ? { ...part, state: "open" } : part,
  );
}

/** What a person reads of a value: text as it is, everything else as JSON on lines of its own. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value, null, 2) ?? "";
}

/** One line of what a call is about: its first argument. */
export function gist(input: string): string {
  try {
    const value: unknown = JSON.parse(input);
    if (typeof value !== "object" || value === null) return String(value);
    const [first] = Object.values(value);
    return typeof first === "string" ? first : JSON.stringify(first ?? "");
  } catch {
    return input;
  }
}

export const CALL = { kind: "call", input: "", inputChars: 0, output: null, child: null } as const;

function withText(
  parts: readonly ShownPart[],
  kind: UiTextPart["kind"],
  { id, text }: { readonly id: string; readonly text: string },
): readonly ShownPart[] {
  const last = parts.at(-1);
  if (last?.kind !== kind || last.id !== id) return [...parts, { kind, id, text }];
  return parts.with(-1, { ...last, text: last.text + text });
}

function inPart(
  parts: readonly ShownPart[],
  id: string,
  change: (part: UiCallPart) => UiCallPart,
): readonly ShownPart[] {
  const at = parts.findLastIndex((part) => part.kind === "call" && part.id === id);
  return at === -1 ? parts : parts.with(at, change(parts[at] as UiCallPart));
}

/** With all of its input: the transcript may have cut the end off, and a person decides by it. */
export function askedPart(part: UiCallPart, input: unknown, state: "waiting" | "running"): UiCallPart {
  return { ...withInput(part, textOf(input)), state };
}

function withInput(part: UiCallPart, input: string): UiCallPart {
  return { ...part, input, inputChars: input.length };
}

function withOutput(part: UiCallPart, value: unknown): UiCallPart {
  const output = textOf(value);
  return { ...part, output, outputChars: output.length };
}
