/** Bounds on what one evaluation measures, and what is chosen when there is more: pure, and the same each time. */
import type { Turn } from "../replay/transcript.ts";

export interface SampleBounds {
  /** Conversations of one input. */
  readonly conversations: number;
  /** Messages and characters of one conversation. */
  readonly messages: number;
  readonly characters: number;
  /** Questions of one set, and things of one conversation that are searched for. */
  readonly questions: number;
  /** Questions that an agent is asked, each a turn of it. */
  readonly turns: number;
}

export const BOUNDS: SampleBounds = {
  conversations: 100,
  messages: 2_000,
  characters: 8_000_000,
  questions: 100,
  turns: 20,
};

export const UNBOUNDED: SampleBounds = {
  conversations: Number.POSITIVE_INFINITY,
  messages: Number.POSITIVE_INFINITY,
  characters: Number.POSITIVE_INFINITY,
  questions: Number.POSITIVE_INFINITY,
  turns: Number.POSITIVE_INFINITY,
};

/** At most so many, spread evenly over the list, the first among them. */
export function evenly<T>(list: readonly T[], most: number): readonly T[] {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, index) => list[Math.floor((index * list.length) / most)]!);
}

/** The newest messages within the bounds. They begin with a message of the user, so that no result stands without its call. */
export function newest(turns: readonly Turn[], { messages, characters }: SampleBounds): readonly Turn[] {
  let left = characters;
  let first = turns.length;
  while (first > 0 && turns.length - first < messages) {
    left -= JSON.stringify(turns[first - 1]!.message).length;
    if (left < 0) break;
    first -= 1;
  }
  if (first === 0) return turns;
  const start = turns.findIndex(({ message }, index) => index >= first && message.role === "user");
  return start === -1 ? [] : turns.slice(start);
}
