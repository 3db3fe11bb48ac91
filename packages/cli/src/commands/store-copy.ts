import { isStoreThere } from "palimpsest/internal/home";
import type { Store } from "palimpsest/stores";
import { copyStore } from "palimpsest/threads";
import type { Run } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { namedStore, withStore } from "../home/home.ts";
import { copyProgress } from "../terminal/copy-progress.ts";
import { counted } from "../terminal/counted.ts";

export const run: Run = async ({ positionals }, context) => {
  const [from, to] = positionals.map(namedStore) as [string, string];
  if (from === to) throw new UsageError("FROM and TO are the same store.");
  if (!isStoreThere(from)) throw new Failure("missing", `There is no database at ${from}. Nothing was copied.`);
  const onProgress = copyProgress(context.output);
  const { signal } = context;
  const copy = (source: Store) => withStore(to, (target) => copyStore(source, target, { onProgress, signal }));
  const report = await withStore(from, copy, "read");
  const { copied, present, records, failed, memories } = report;
  for (const { thread, reason, detail } of failed) context.output.note(`${thread} (${reason}): ${detail}`);
  for (const { user, agent, reason, detail } of memories.failed)
    context.output.note(`memory of ${user}${agent === "" ? "" : `/${agent}`} (${reason}): ${detail}`);
  if (context.format === "json") await context.output.json(report);
  else
    await context.output.line(
      `Copied ${counted(copied, "thread")} with ${counted(records, "record")}, verified by their hash chains; ${present} were there already${failed.length === 0 ? "" : `; ${failed.length} failed`}.`,
    );
  if (context.format === "text" && memories.copied + memories.present + memories.failed.length > 0)
    await context.output.line(
      `Copied ${memories.copied} memories; ${memories.present} were there already${memories.failed.length === 0 ? "" : `; ${memories.failed.length} failed`}.`,
    );
  return failed.length + memories.failed.length === 0 ? 0 : 1;
};
