/** A store whose operations say how long they took. It changes nothing else; streams of records aren't measured. */
import type { Store } from "palimpsest/stores";

export function measuredStore(store: Store, took: (operation: string, seconds: number) => void): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || typeof name !== "string" || UNMEASURED.has(name)) return value;
      return async (...args: unknown[]) => {
        const started = performance.now();
        try {
          return await (value as (...given: unknown[]) => Promise<unknown>).apply(target, args);
        } finally {
          took(name, (performance.now() - started) / 1000);
        }
      };
    },
  });
}

const UNMEASURED: ReadonlySet<string> = new Set(["forUser", "records", "close"]);
