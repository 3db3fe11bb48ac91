/**
 * A shape that looks at each message object once. Messages are values: nobody edits one in place, so what was read from
 * it stays true as long as the object lives, and planning over a long view costs what is new.
 */
import type { Shape } from "./shape.ts";

export function remembered<M extends object>(shape: Shape<M>): Shape<M> {
  return { ...shape, parts: once(shape.parts), calls: once(shape.calls), answers: once(shape.answers) };
}

function once<M extends object, T>(read: (message: M) => T): (message: M) => T {
  const known = new WeakMap<M, T>();
  return (message) => {
    const seen = known.get(message);
    if (seen !== undefined) return seen;
    const found = read(message);
    known.set(message, found);
    return found;
  };
}
