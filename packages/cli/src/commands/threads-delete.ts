import { deleteThreadWithFiles } from "palimpsest/assistant";
import { forgetThread } from "palimpsest/internal/memory";
import type { Run } from "../command/command.ts";
import { busy, missingThread, noteScrubbed, withThread } from "../home/home.ts";

export const run: Run = async ({ positionals }, context) => {
  const thread = positionals[0]!;
  const result = await withThread(context, thread, async (home) => {
    const deleted = await deleteThreadWithFiles(home, context.home, thread);
    const { repository } = await home.eraseDeps();
    if (deleted.kind === "deleted" && repository !== null) await forgetThread(repository, context.user, thread);
    return deleted;
  });
  if (result.kind === "busy") throw busy(result.thread, result.expiresAt);
  if (result.kind === "missing") throw missingThread(context, thread);
  noteScrubbed(context, result.scrubbed);
  if (context.format === "json") await context.output.json({ thread, deleted: true });
  else await context.output.line(`Deleted ${thread}.`);
  return 0;
};
