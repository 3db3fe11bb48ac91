/**
 * A turn as the bench sees it: a thread already this long, one question more, one answer of a model that costs nothing.
 * What is timed and weighed is everything around the model.
 */
export interface TurnCase {
  turn(): Promise<void>;
  /** A turn on a short thread beside it, so that the one that is measured stays as long as it is said to be. */
  warmUp(): Promise<void>;
  /** Bytes written since the last call. Empties the write-ahead log, which makes the next turn slower: not where one is timed. */
  written(): number | Promise<number>;
  /** Before a turn, not timed: keeps the thread as it was meant to be. */
  prepare?(): Promise<void>;
  /** How many messages the model was shown in the last turn. */
  shown(): number;
  close(): Promise<void>;
}

export interface TimedTurn {
  readonly cpuMs: number;
  readonly ms: number;
  readonly shown: number;
}

export const ANSWER = "The tide turns at six, and the wind goes round to the west by noon.";

export function said(index: number): { role: "user" | "assistant"; content: string } {
  const text = `Message ${index}: the tide stands at ${index % 97} feet and the boats are in. `.repeat(5);
  return { role: index % 2 === 0 ? "user" : "assistant", content: text };
}

export function question(round: number): string {
  return `Question ${round}: when does the tide turn?`;
}

/** CPU is that of the whole process, what a turn leaves to be done right after it included. */
export async function timeTurn(one: TurnCase): Promise<TimedTurn> {
  await one.prepare?.();
  const before = process.cpuUsage();
  const start = performance.now();
  await one.turn();
  const ms = performance.now() - start;
  await new Promise(setImmediate);
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, ms, shown: one.shown() };
}

export async function weighTurn(one: TurnCase): Promise<number> {
  await one.prepare?.();
  await one.written();
  await one.turn();
  return one.written();
}
