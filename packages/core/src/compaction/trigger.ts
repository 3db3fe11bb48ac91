/**
 * Whether a view asks to be compacted: any threshold reached starts it, compared with `>=`, every time. After an attempt
 * a threshold waits until a share of itself was said, in its own unit.
 */
import type { Head } from "../log/head.ts";
import type { PruneRecord } from "../log/record.ts";
import type { Prompt } from "../prompt/prompt.ts";
import { gainOf, type Policy, type Threshold, tokensOf, type Window } from "./policy.ts";

export interface Fill {
  /** The whole request: system prompt, tool schemas, messages. */
  readonly tokens: number;
  /** Of them, what isn't conversation: system prompt, system messages, tool schemas. */
  readonly outside: number;
  /** Messages in the view, system messages not counted. */
  readonly messages: number;
}

/** What was said since the last attempt. */
export interface Growth {
  readonly tokens: number;
  readonly messages: number;
}

export type TriggerCheck =
  | { readonly kind: "below" }
  | { readonly kind: "waiting" }
  | { readonly kind: "met"; readonly threshold: Threshold };

/** What was said after a record; null for the beginning. */
export function grownSince<M>({ entries, factor }: Prompt<M>, seq: number): Growth | null {
  if (seq === 0) return null;
  let tokens = 0;
  let messages = 0;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index]!;
    if (entry.source !== "message" || (entry.seq ?? 0) <= seq) break;
    tokens += entry.size.text + entry.size.images;
    if (entry.role !== "system") messages += 1;
  }
  return { tokens: Math.ceil(tokens * factor), messages };
}

/** Seq of the last thing that changed the view's size on purpose; 0 when nothing has. */
export function lastAct(head: Head, prunes: readonly PruneRecord[]): number {
  const clamps = prunes.filter(({ entries }) => entries.some(({ reason }) => reason === "clamped"));
  return Math.max(head.compaction ?? 0, head.undone?.seq ?? 0, clamps.at(-1)?.seq ?? 0);
}

/** `grown` is null when there was no attempt. */
export function checkTrigger(policy: Policy, fill: Fill, grown: Growth | null, window: Window): TriggerCheck {
  const reached = policy.trigger.filter((threshold) => isReached(threshold, fill, window));
  if (reached.length === 0) return { kind: "below" };
  const due = reached.find((threshold) => {
    if (grown === null) return true;
    const growth = threshold.type === "messages" ? grown.messages : grown.tokens;
    return growth >= gainOf(threshold, policy, window);
  });
  return due === undefined ? { kind: "waiting" } : { kind: "met", threshold: due };
}

function isReached(threshold: Threshold, { tokens, outside, messages }: Fill, window: Window): boolean {
  const value = tokensOf(threshold, window);
  if (value === null) return messages >= threshold.value;
  return threshold.type === "tokens" ? tokens - outside >= value : tokens >= value;
}
