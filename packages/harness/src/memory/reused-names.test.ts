import type { TestContext } from "node:test";
import { deletedThreads, reusedNames } from "../../test/memory/reused-names-suite.ts";
import { openStore } from "../stores/open.ts";
import type { FullStore } from "../stores/store.ts";
import { bothEngines, ENGINES } from "../testing/both-engines.ts";

const engines = bothEngines();

for (const engine of ENGINES) {
  const opened = async (t: TestContext): Promise<FullStore> => {
    const store = await openStore(engines.fresh(engine));
    t.after(() => store.close());
    return store;
  };
  reusedNames(engine, opened);
  deletedThreads(engine, opened);
}
