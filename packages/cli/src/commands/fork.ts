import { workspaceQuota } from "palimpsest/config";
import { fork, type Means } from "palimpsest/threads";
import { copyWorkspace, ToolFailure, threadWorkspace } from "palimpsest/workspace";
import { integer } from "../arguments.ts";
import type { Context, Run } from "../command.ts";
import { Failure, UsageError } from "../failure.ts";
import { missingThread, requireThreadId, withThread } from "../home.ts";
import { loadSettings } from "../settings.ts";

export const run: Run = async (input, context) => {
  const parent = input.positionals[0]!;
  const at = integer(input, "at", { min: 0 });
  if (at === undefined) throw new UsageError("--at is missing. Usage: palimpsest fork T --at SEQ [--as T2]");
  const given = input.options["as"];
  if (typeof given === "string") requireThreadId(given);
  const result = await withThread(context, parent, async (means) =>
    fork(means, parent, { as: typeof given === "string" ? given : await freeName(means, parent, at), at }),
  );
  switch (result.kind) {
    case "forked":
      await copyFiles(context, parent, result.thread);
      if (context.format === "json") await context.output.json({ thread: result.thread, parent, at: result.at });
      else await context.output.line(`Forked ${parent} at record ${at} as ${result.thread}.`);
      return 0;
    case "exists":
      throw new Failure("exists", `Thread "${result.thread}" exists already: choose another name with --as.`);
    case "beyond-end":
      throw new Failure("beyond-end", `Thread "${parent}" has no record ${at}: choose an earlier --at.`);
    case "missing":
      throw missingThread(context, parent);
  }
};

/** Files have no past: the fork starts with those that are there now. Without them it would only look whole. */
async function copyFiles(context: Context, parent: string, thread: string): Promise<void> {
  const quota = workspaceQuota(await loadSettings(context));
  const filesOf = (id: string) => threadWorkspace(context.home, { user: context.user, id });
  await copyWorkspace(filesOf(parent), { ...filesOf(thread), quota }).catch(async (error: unknown) => {
    await withThread(context, thread, ({ store }) => store.deleteThread(thread));
    throw error instanceof ToolFailure ? new Failure("workspace-full", `Not forked: ${error.message}`) : error;
  });
}

async function freeName({ store }: Means, parent: string, at: number): Promise<string> {
  for (let count = 1; ; count += 1) {
    // Room for the ending, whatever the parent's length.
    const name = `${parent.slice(0, 100)}-fork-${at}${count === 1 ? "" : `-${count}`}`;
    if ((await store.header(name)) === undefined) return name;
  }
}
