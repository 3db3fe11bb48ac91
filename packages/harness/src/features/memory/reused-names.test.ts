import type { TestContext } from "node:test";
import { bothEngines, ENGINES } from "@palimpsest/testing/internal/both-engines";
import { deletedThreads, reusedNames } from "../../../test/memory/reused-names-suite.ts";
import { openStore } from "../../stores/open.ts";
import type { FullStore } from "../../stores/store.ts";

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
