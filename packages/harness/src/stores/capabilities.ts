/** What stands in where a store lacks a capability that several callers need, so that each of them asks in one way. */
import type { Scrubbed, Store } from "./store.ts";

/** Takes what was erased out of the engine's own files; an engine without upkeep keeps nothing aside. */
export async function scrub(store: Pick<Store, "upkeep">): Promise<Scrubbed> {
  return store.upkeep === undefined ? { kind: "clean" } : store.upkeep.scrub();
}
