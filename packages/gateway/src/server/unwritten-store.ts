/** A store that is only read for now: what would be written is refused, whichever way it comes. */
import type { Home } from "palimpsest/internal/home";
import type { Store } from "palimpsest/stores";
import { ProblemError } from "../http/problem.ts";

/** A home as somebody has it whose key no provider has accepted yet; for anybody else as it is. */
export function unwrittenBy(isStranger: () => boolean, home: Home): Home {
  return isStranger() ? { ...home, store: unwrittenStore(home.store, isStranger) as Home["store"] } : home;
}

function unwrittenStore(store: Store, isStranger: () => boolean): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof name !== "string" || typeof value !== "function" || !WRITES.has(name)) return value;
      return async (...args: unknown[]) => {
        if (isStranger()) throw new ProblemError(403, "key-not-accepted", NOT_YET);
        return (value as (...given: unknown[]) => Promise<unknown>).apply(target, args);
      };
    },
  });
}

const NOT_YET = "nothing is kept for a provider's key before that provider has answered with it: ask a model first";

const WRITES: ReadonlySet<string> = new Set([
  "createThread",
  "append",
  "fork",
  "redact",
  "deleteThread",
  "acquireLease",
  "writeHead",
]);
