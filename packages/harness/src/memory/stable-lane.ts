/**
 * The stable lane of a thread: the `<memory>` text, rendered at its first turn and then only when the prompt's cache is
 * lost anyway or a person wants it changed: at a compaction, after an edit or forget, after an hour idle. In between it
 * is the same, byte for byte, whatever was learned [F64]. Pure.
 */
import type { Head } from "@palimpsest/core/log";
import { type MemoryDocument, renderMemory } from "@palimpsest/core/memory";

/** As it stands in the thread's state. */
export interface FrozenMemory {
  readonly text: string;
  readonly factIds: readonly string[];
  readonly tokens: number;
  /** The compaction it was rendered at, and the newest change by a person it knows. */
  readonly compaction: number | null;
  readonly manual: string | null;
}

export interface StableOptions {
  readonly now: Date;
  /** `keep` where a changed prompt costs the model its thoughts: an hour idle is no reason to render it anew. */
  readonly whenIdle: "render" | "keep";
  readonly tokens: number;
  readonly count: (text: string) => number;
  /** By the ids of facts, to what is asked when the block is rendered. */
  readonly relevance?: ReadonlyMap<string, number> | undefined;
}

export type StableLane =
  | { readonly kind: "kept"; readonly frozen: FrozenMemory }
  | { readonly kind: "rendered"; readonly frozen: FrozenMemory };

export function stableLane(
  head: Head,
  document: MemoryDocument,
  { now, whenIdle, ...options }: StableOptions,
): StableLane {
  // A thread that began with an empty memory has no record of that; its block is nothing, and stays so.
  const before = frozenIn(head) ?? (head.messages > 0 ? NOTHING : null);
  const manual = newestByHand(document);
  const idle = whenIdle === "render" && now.getTime() - Date.parse(head.updatedAt) > IDLE_MS;
  const fresh = before === null || idle || before.compaction !== head.compaction || before.manual !== manual;
  if (!fresh) return { kind: "kept", frozen: before };
  const { text, factIds, tokens } = renderMemory(document, options);
  const frozen = { text, factIds, tokens, compaction: head.compaction, manual };
  const same = JSON.stringify(before ?? NOTHING) === JSON.stringify(frozen);
  return { kind: same ? "kept" : "rendered", frozen };
}

/** The newest change that a person made. */
export function newestByHand({ changes }: MemoryDocument): string | null {
  return changes?.findLast(({ by }) => by !== "conversation")?.id ?? null;
}

export function frozenIn(head: Head): FrozenMemory | null {
  const value = head.state["memory"];
  return typeof value === "object" && value !== null && "text" in value ? (value as FrozenMemory) : null;
}

/** What the block may have where nobody says how much: in a small window evidence that is chosen for the question is worth more. */
export function blockBudget(window: number): number {
  return Math.min(MOST, Math.max(LEAST, Math.floor(window / 64)));
}

const [LEAST, MOST] = [125, 2_000];

/** What a configuration says, where it says something else than the default: that holds in every window. */
export function givenBlockTokens(setting: number): number | undefined {
  return setting === MOST ? undefined : setting;
}

const NOTHING: FrozenMemory = { text: "", factIds: [], tokens: 0, compaction: null, manual: null };
const IDLE_MS = 60 * 60 * 1000;
