/**
 * A shape that looks at each message object once. Messages are values: nobody edits one in place, so what was read from
 * it stays true as long as the object lives, and planning over a long view costs what is new.
 */
import type { Part, Shape } from "./shape.ts";

export function remembered<M extends object>(shape: Shape<M>): Shape<M> {
  const known = new WeakMap<M, readonly Part[]>();
  const called = new WeakMap<M, readonly string[]>();
  return {
    ...shape,
    parts(message) {
      const seen = known.get(message);
      if (seen !== undefined) return seen;
      const parts = shape.parts(message);
      known.set(message, parts);
      return parts;
    },
    calls(message) {
      const seen = called.get(message);
      if (seen !== undefined) return seen;
      const calls = shape.calls(message);
      called.set(message, calls);
      return calls;
    },
  };
}
