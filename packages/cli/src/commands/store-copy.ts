import { copyStore } from "palimpsest/stores";
import type { Context, Run } from "../command.ts";
import { Failure, UsageError } from "../failure.ts";
import { namedStore, standsAlready, withStore } from "../home.ts";

export const run: Run = async ({ positionals }, context) => {
  const [from, to] = positionals.map(namedStore) as [string, string];
  if (from === to) throw new UsageError("FROM and TO are the same store.");
  if (!standsAlready(from)) throw new Failure("missing", `There is no database at ${from}. Nothing was copied.`);
  const onProgress = reporter(context);
  const { signal } = context;
  const report = await withStore(from, (source) =>
    withStore(to, (target) => copyStore(source, target, { onProgress, signal })),
  );
  const { copied, present, records, failed } = report;
  for (const { thread, reason, detail } of failed) context.output.note(`${thread} (${reason}): ${detail}`);
  if (context.format === "json") await context.output.json(report);
  else
    await context.output.line(
      `Copied ${copied} threads with ${records} records, verified by their hash chains; ${present} were there already${failed.length === 0 ? "" : `; ${failed.length} failed`}.`,
    );
  return failed.length === 0 ? 0 : 1;
};

/** At a terminal at once, elsewhere only when it takes long. */
function reporter({ output }: Context) {
  let last = Date.now();
  return ({ thread, records, of }: { readonly thread: string; readonly records: number; readonly of: number }) => {
    const now = Date.now();
    if (now - last < (process.stderr.isTTY ? 200 : 5000)) return;
    last = now;
    output.progress(`${thread}: ${records} of ${of} records`);
  };
}
