/**
 * What every store must do, as one suite. A driver's test calls `storeConformance` with a way to open its database; the
 * suite then needs no knowledge of the engine. A new promise of the port gets its case here, not in a driver's test.
 */
import { after, before, describe, test } from "node:test";
import type { Store } from "../stores/store.ts";
import { appendCases } from "./conformance/appending.ts";
import { forkCases } from "./conformance/forks.ts";
import type { Suite } from "./conformance/kit.ts";
import { leaseCases } from "./conformance/leases.ts";
import { listCases } from "./conformance/listing.ts";
import { readCases } from "./conformance/reading.ts";
import { redactionCases } from "./conformance/redaction.ts";
import { stateCases } from "./conformance/states.ts";
import { undoCases } from "./conformance/undo.ts";
import { userCases } from "./conformance/users.ts";

/** One database; each `connect` is a connection of its own, as another process would have. */
export interface StoreFixture {
  connect(): Promise<Store>;
  /** Every lease is as it would be if the clock had been so far ahead until now. */
  setClockBack(ms: number): Promise<void>;
  dispose(): Promise<void>;
}

export function storeConformance(name: string, open: () => Promise<StoreFixture>): void {
  describe(`${name} store`, () => {
    let fixture: StoreFixture;
    let store: Store;
    before(async () => {
      fixture = await open();
      store = await fixture.connect();
    });
    after(async () => {
      await store.close();
      await fixture.dispose();
    });
    const suite: Suite = {
      store: () => store,
      connect: () => fixture.connect(),
      setClockBack: (ms) => fixture.setClockBack(ms),
    };
    const cases = [
      appendCases,
      readCases,
      leaseCases,
      undoCases,
      forkCases,
      redactionCases,
      stateCases,
      listCases,
      userCases,
    ];
    for (const [title, run] of cases.flatMap((group) => Object.entries(group))) test(title, () => run(suite));
  });
}
