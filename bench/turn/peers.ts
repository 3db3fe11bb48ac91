/**
 * The peers' rows of the turn bench. They take seconds a turn on long threads, so they get few turns and no thread over
 * 10,000 messages.
 */
import { measureCase } from "./case.ts";
import { langChainCases, loadLangChain } from "./langchain.ts";

const LONGEST = 10_000;

export async function peerRows(
  sizes: readonly number[],
  turns: number,
): Promise<{ rows: object[]; missing: string[] }> {
  const loaded = await loadLangChain();
  if (loaded.kind === "missing") return { rows: [], missing: [loaded.what] };
  const rows: object[] = [];
  for (const build of langChainCases(loaded.module)) {
    for (const size of sizes.filter((messages) => messages <= LONGEST)) {
      rows.push(await measureCase(await build(size), turns));
    }
  }
  return { rows, missing: [] };
}
