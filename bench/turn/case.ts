/**
 * A peer's turn as the bench sees it: a thread already this long, one question more, one answer of a model that costs
 * nothing. What is timed and weighed is everything around the model.
 */
import { quantile } from "../bench.ts";

export interface TurnCase {
  readonly who: string;
  readonly store: string;
  readonly messages: number;
  turn(): Promise<void>;
  /** Bytes written since the last call; not timed. */
  written(): number;
  close(): Promise<void>;
}

export const ANSWER = "The tide turns at six, and the wind goes round to the west by noon.";

export function said(index: number): { role: "user" | "assistant"; content: string } {
  const text = `Message ${index}: the tide stands at ${index % 97} feet and the boats are in. `.repeat(5);
  return { role: index % 2 === 0 ? "user" : "assistant", content: text };
}

export function question(round: number): string {
  return `Question ${round}: when does the tide turn?`;
}

/** The first turn pays for compiling and isn't counted. */
export async function measureCase(one: TurnCase, turns: number) {
  const ms: number[] = [];
  const bytes: number[] = [];
  await one.turn();
  for (let round = 0; round < turns; round += 1) {
    one.written();
    const start = performance.now();
    await one.turn();
    ms.push(performance.now() - start);
    bytes.push(one.written());
  }
  await one.close();
  const { who, store, messages } = one;
  return { who, store, messages, ms: Math.round(quantile(ms, 0.5) * 100) / 100, bytes: quantile(bytes, 0.5) };
}
