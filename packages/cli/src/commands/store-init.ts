import { openStore } from "palimpsest/stores";
import type { Run } from "../command/command.ts";
import { counted } from "../terminal/counted.ts";

interface Options {
  readonly partitions?: number;
  readonly distributed?: boolean;
}

export const run: Run<Options> = async ({ options }, { located, output, format }) => {
  const { partitions, distributed = false } = options;
  const target = await located.storeTarget();
  const layout = { ...(partitions !== undefined && { partitions }), ...(distributed && { distributed }) };
  const store = await openStore(target, layout);
  try {
    const indexes = (await store.upkeep.index?.()) ?? [];
    if (format === "json") await output.json({ partitions: partitions ?? null, distributed, indexes });
    else {
      const parts = partitions === undefined ? "" : `, its large tables in ${partitions} parts`;
      const spread = distributed ? ", spread over the nodes by user" : "";
      await output.line(`The store's tables are up to date${parts}${spread}.`);
      if (indexes.length > 0)
        output.note(`Built ${counted(indexes.length, "index", "indexes")}: ${indexes.join(", ")}.`);
    }
  } finally {
    await store.close();
  }
  return 0;
};
