/**
 * What a thread has delegated, as a part of its state: a compaction renders it into the summary, so that no work is
 * delegated twice. Pure: reads a state and makes the next list.
 */
import type { SubagentStatus } from "./result.ts";

export interface Delegation {
  /** The tool call that asked for it. */
  readonly id: string;
  readonly agent: string;
  readonly description: string;
  readonly status: SubagentStatus | "running";
  readonly threadId: string;
  /** The file its whole answer is in, if there is one. */
  readonly answer: string | null;
  /** Since when its thread is no more: it was pruned, and can't be continued or read. */
  readonly deletedAt?: string;
}

type State = Readonly<Record<string, unknown>>;

export function delegationsOf(state: State): readonly Delegation[] {
  const list = state["delegations"];
  return Array.isArray(list) ? (list as Delegation[]) : [];
}

/** The head is written with every append, so the list is bounded: the oldest that have ended leave first. */
const MOST = 100;
const DESCRIPTION_CHARS = 200;

/** A child that is continued keeps its place. */
export function withDelegation(list: readonly Delegation[], given: Delegation): readonly Delegation[] {
  const one = { ...given, description: [...given.description].slice(0, DESCRIPTION_CHARS).join("") };
  const known = list.some(({ threadId }) => threadId === one.threadId);
  const next = known ? list.map((old) => (old.threadId === one.threadId ? one : old)) : [...list, one];
  const excess = next.length - MOST;
  const leaving = new Set(next.filter(hasEnded).slice(0, Math.max(0, excess)));
  return next.filter((delegation) => !leaving.has(delegation));
}

export function running(list: readonly Delegation[]): readonly Delegation[] {
  return list.filter(({ status }) => status === "running");
}

/** The list once these threads are gone. */
export function withDeleted(
  list: readonly Delegation[],
  threads: readonly string[],
  at: string,
): readonly Delegation[] {
  return list.map((one) => (threads.includes(one.threadId) ? { ...one, deletedAt: at } : one));
}

/** One that was interrupted can still be continued. */
export function hasEnded({ status }: Delegation): boolean {
  return status !== "running" && status !== "interrupted";
}
