/**
 * A shape that looks at each message object once. Messages are values: nobody edits one in place, so what was read from
 * it stays true as long as the object lives, and planning over a long view costs what is new.
 */
import type { Shape } from "./shape.ts";

export function remembered<M extends object>(shape: Shape<M>): Shape<M> {
  return {
    ...shape,
    parts: once(shape.parts),
    calls: once(shape.calls),
    answers: once(shape.answers),
    // What a repair makes of the same messages stays the same object, so that it is counted once and not at every step.
    join: lastWith(shape.join, (a, b) => a === b),
    select: lastWith(shape.select, (a, b) => a.length === b.length && a.every((index, at) => index === b[at])),
  };
}

function once<M extends object, T>(read: (message: M) => T): (message: M) => T {
  const cache = new WeakMap<M, T>();
  return (message) => {
    const seen = cache.get(message);
    if (seen !== undefined) return seen;
    const value = read(message);
    cache.set(message, value);
    return value;
  };
}

/** Remembers for each message what was last made of it, and with what. */
function lastWith<M extends object, W>(
  make: (message: M, other: W) => M,
  same: (a: W, b: W) => boolean,
): (message: M, other: W) => M {
  const cache = new WeakMap<M, { readonly other: W; readonly made: M }>();
  return (message, other) => {
    const last = cache.get(message);
    if (last !== undefined && same(last.other, other)) return last.made;
    const made = make(message, other);
    cache.set(message, { other, made });
    return made;
  };
}
