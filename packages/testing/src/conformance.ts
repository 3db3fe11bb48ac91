/**
 * What every store must do, as one suite: the log, and each capability that a store has. A driver's test calls
 * `storeConformance` with a way to open its database; the suite then needs no knowledge of the engine. A new promise of
 * the port gets its case here, not in a driver's test.
 */
import { after, before, describe, type TestContext, test } from "node:test";
import type { Capability, Store } from "palimpsest/stores";
import { appendCases } from "./conformance/appending.ts";
import { clockCases } from "./conformance/clocks.ts";
import { draftCases } from "./conformance/drafts.ts";
import { forkCases } from "./conformance/forks.ts";
import { keyCases } from "./conformance/keys.ts";
import type { Cases, CasesWith, Suite } from "./conformance/kit.ts";
import { leaseCases } from "./conformance/leases.ts";
import { listCases } from "./conformance/listing.ts";
import { matchCases } from "./conformance/matches.ts";
import { memoryCases } from "./conformance/memories.ts";
import { outboxCases } from "./conformance/outbox.ts";
import { promptCases } from "./conformance/prompts.ts";
import { readCases } from "./conformance/reading.ts";
import { redactionCases } from "./conformance/redaction.ts";
import { searchCases } from "./conformance/search.ts";
import { stateCases } from "./conformance/states.ts";
import { undoCases } from "./conformance/undo.ts";
import { upkeepCases } from "./conformance/upkeep.ts";
import { userCases } from "./conformance/users.ts";

export { type QueueEngine, queueConformance } from "./conformance/queue.ts";
export {
  type PlayedReply,
  type SentText,
  type ThreadCase,
  type ThreadConformance,
  type ThreadUser,
  type ThreadUserOptions,
  threadConformance,
} from "./conformance/threads.ts";
export { type ShapeCase, type ShapeGenerator, shapeSuite } from "./shapes/shape-suite.ts";

/** One database; each `connect` is a connection of its own, as another process would have. */
export interface StoreFixture {
  connect(): Promise<Store>;
  /** Every lease is as it would be if the clock had been so far ahead until now. Without it that is not tested. */
  setClockBack?(ms: number): Promise<void>;
  dispose(): Promise<void>;
}

const LOG_CASES = [
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

const CAPABILITY_CASES: { readonly [C in Capability]: CasesWith<C> } = {
  search: searchCases,
  drafts: draftCases,
  memories: memoryCases,
  outbox: outboxCases,
  prompts: promptCases,
  keys: keyCases,
  matches: matchCases,
  upkeep: upkeepCases,
};

/** What a store lacks is skipped, and the skip says what follows from it. */
const WITHOUT: Readonly<Record<Capability, string>> = {
  search: "this store has no search tables: a search reads the log",
  drafts: "this store keeps no drafts: no summary is prepared ahead",
  memories: "this store keeps no memories: memory is kept in files",
  outbox: "this store has no outbox: nothing is learned from turns",
  prompts: "this store keeps no prompts: each thread's log holds its own",
  keys: "this store keeps no keys: a gateway answers its own machine only",
  matches: "this store keeps no matches: a conversation that is sent again is taken for a new one",
  upkeep: "this store has no upkeep: its engine keeps no files",
};

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
    const suite: Suite = { store: () => store, connect: () => fixture.connect() };
    for (const cases of LOG_CASES) add(cases, () => suite);
    add(clockCases, (t) => {
      const { setClockBack } = fixture;
      if (setClockBack !== undefined) return { ...suite, setClockBack: (ms) => setClockBack.call(fixture, ms) };
      t.skip("the fixture has no setClockBack");
      return null;
    });
    for (const capability of Object.keys(CAPABILITY_CASES) as Capability[])
      add(CAPABILITY_CASES[capability] as Cases, (t) => {
        if (store[capability] !== undefined) return suite;
        t.skip(WITHOUT[capability]);
        return null;
      });
  });
}

/** Null: the case was skipped, with its reason. */
function add<S extends Suite>(cases: Cases<S>, suiteFor: (t: TestContext) => S | null): void {
  for (const [title, run] of Object.entries(cases))
    test(title, async (t) => {
      const suite = suiteFor(t);
      if (suite !== null) await run(suite);
    });
}
