import { rm } from "node:fs/promises";
import type { ThreadName } from "@palimpsest/core/log";
import { threadFolder } from "palimpsest/internal/compaction";
import { pruneSubagents, settleInterrupted } from "palimpsest/internal/subagents";
import { everyUser } from "palimpsest/stores";
import type { Pruned } from "palimpsest/subagents";
import type { Run } from "../command/command.ts";
import { withHome } from "../home/home.ts";

export const run: Run<{ readonly days?: number; readonly all?: boolean }> = async ({ options }, context) => {
  const days = options.days ?? (await context.located.settings()).subagents.retention_days;
  const unfinished = options.all ? "too" : "keep";
  const forget = (thread: ThreadName) => rm(threadFolder(context.home, thread), { recursive: true, force: true });
  const pruned: Pruned[] = [];
  if (await context.located.hasStore())
    await withHome(context, async (deps) => {
      for await (const store of everyUser(deps.store)) {
        await settleInterrupted({ ...deps, store });
        pruned.push(await pruneSubagents({ ...deps, store }, { days, unfinished, forget }));
      }
    });
  const [deleted, kept] = [pruned.flatMap((one) => one.deleted), pruned.flatMap((one) => one.kept)];
  if (context.format === "json") await context.output.json({ deleted, kept });
  else {
    for (const threadId of deleted) await context.output.line(`Deleted ${threadId}.`);
    for (const { thread, reason } of kept) context.output.note(`Kept ${thread}: ${WHY[reason]}.`);
    if (deleted.length === 0) context.output.note(`No sub-agent thread to delete that is older than ${days} days.`);
  }
  return 0;
};

const WHY = {
  unfinished: "it was interrupted, and its parent can still continue it (--all deletes it too)",
  busy: "it or its parent is being written to",
};
