/**
 * What was worked out about a message object under one measure, kept weakly for as long as both live: planning again at
 * the next step costs only what is new.
 */
import type { Measure } from "./clamp.ts";

export function perMessage<T>(): <M>(message: M, measure: Measure<M>, workOut: () => T) => T {
  const known = new WeakMap<object, WeakMap<object, T>>();
  return (message, measure, workOut) => {
    const byMessage = known.get(measure) ?? new WeakMap<object, T>();
    known.set(measure, byMessage);
    const seen = byMessage.get(message as object);
    if (seen !== undefined) return seen;
    const fresh = workOut();
    byMessage.set(message as object, fresh);
    return fresh;
  };
}
