/**
 * What the prunable parts of a message weigh, counted once per message object. Results are kept per measure, weakly, so
 * that deciding again at the next step costs only what is new.
 */
import type { Shape } from "../../message/shape.ts";
import type { Measure } from "../clamp.ts";

/** Zero for parts that are never pruned. */
export function partTokens<M>(message: M, shape: Shape<M>, measure: Measure<M>): readonly number[] {
  const cache = cacheFor(measure);
  const known = cache.get(message as object);
  if (known !== undefined) return known;
  const tokens = shape.parts(message).map((part, index) => {
    if (part.kind === "call") return measure.text(part.input);
    if (part.kind === "result" && part.images.length === 0) return measure.text(part.text);
    // A picture has no text to count: it weighs what the message loses without it.
    if (part.kind === "result") return lost(shape.withPart(message, index, { ...part, text: "", images: [] }));
    if (part.kind === "image") return lost(shape.withPart(message, index, { kind: "text", text: "" }));
    return 0;
  });
  function lost(rest: M): number {
    return Math.max(0, measure.message(message) - measure.message(rest));
  }
  cache.set(message as object, tokens);
  return tokens;
}

const caches = new WeakMap<object, WeakMap<object, readonly number[]>>();

function cacheFor(measure: object): WeakMap<object, readonly number[]> {
  let cache = caches.get(measure);
  if (cache === undefined) {
    cache = new WeakMap();
    caches.set(measure, cache);
  }
  return cache;
}
