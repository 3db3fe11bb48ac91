import { rm } from "node:fs/promises";
import { threadFolder } from "palimpsest/compaction";
import type { Run } from "../command.ts";
import { busy, missingThread, withThread } from "../home.ts";

export const run: Run = async ({ positionals }, context) => {
  const thread = positionals[0]!;
  const result = await withThread(context, thread, ({ store }) => store.deleteThread(thread));
  if (result === "busy") throw busy(thread);
  if (result === "missing") throw missingThread(context, thread);
  // Its files hold the same words: part files, uploads, outputs.
  await rm(threadFolder(context.home, thread), { recursive: true, force: true });
  if (context.format === "json") await context.output.json({ thread, deleted: true });
  else await context.output.line(`Deleted ${thread}.`);
  return 0;
};
