/** A store whose operations say how long they took, and what came of them. It changes nothing else; streams of records aren't measured. */
import type { Store } from "palimpsest/stores";
import type { StoreHealth } from "./store-health.ts";

export function measuredStore(
  store: Store,
  took: (operation: string, seconds: number) => void,
  health: Pick<StoreHealth, "failed" | "wrote">,
): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || typeof name !== "string" || UNMEASURED.has(name)) return value;
      return async (...args: unknown[]) => {
        const started = performance.now();
        try {
          const result = await (value as (...given: unknown[]) => Promise<unknown>).apply(target, args);
          if (WRITES.has(name)) health.wrote();
          return result;
        } catch (error) {
          health.failed(error);
          throw error;
        } finally {
          took(name, (performance.now() - started) / 1000);
        }
      };
    },
  });
}

/** Others are no proof: a lease or an empty thread needs next to no room. */
const WRITES: ReadonlySet<string> = new Set(["append", "redact"]);

const UNMEASURED: ReadonlySet<string> = new Set(["forUser", "records", "close"]);
