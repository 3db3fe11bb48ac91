import { openStore } from "palimpsest/stores";
import type { Run } from "../command/command.ts";
import { counted } from "../terminal/counted.ts";

export const run: Run<{ readonly partitions?: number }> = async ({ options }, { located, output, format }) => {
  const { partitions } = options;
  const target = await located.storeTarget();
  const store = await openStore(target, partitions === undefined ? {} : { partitions });
  try {
    const indexes = (await store.upkeep.index?.()) ?? [];
    if (format === "json") await output.json({ partitions: partitions ?? null, indexes });
    else {
      const parts = partitions === undefined ? "" : `, its large tables in ${partitions} parts`;
      await output.line(`The store's tables are up to date${parts}.`);
      if (indexes.length > 0)
        output.note(`Built ${counted(indexes.length, "index", "indexes")}: ${indexes.join(", ")}.`);
    }
  } finally {
    await store.close();
  }
  return 0;
};
