import { workspaceQuota } from "palimpsest/internal/config";
import { fileCopier } from "palimpsest/internal/workspace";
import type { ThreadDeps } from "palimpsest/threads";
import { forkWithFiles, ToolFailure } from "palimpsest/workspace";
import type { Run } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { missingThread, requireThreadId, withThread } from "../home/home.ts";

export const run: Run<{ readonly at?: number; readonly as?: string }> = async ({ positionals, options }, context) => {
  const parent = positionals[0]!;
  const { at, as: given } = options;
  if (at === undefined) throw new UsageError("--at is missing. Usage: palimpsest fork T --at SEQ [--as T2]");
  if (given !== undefined) requireThreadId(given);
  // Files have no past: the fork starts with those that are there now.
  const result = await withThread(context, parent, async (deps) => {
    const as = given ?? (await freeName(deps, parent, at));
    const copier = fileCopier(context.home, workspaceQuota(await deps.settings()));
    return forkWithFiles(deps, parent, { as, at }, copier).catch((error: unknown) => {
      throw error instanceof ToolFailure ? new Failure("workspace-full", `Not forked: ${error.message}`) : error;
    });
  });
  switch (result.kind) {
    case "forked":
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

async function freeName({ store }: ThreadDeps, parent: string, at: number): Promise<string> {
  for (let count = 1; ; count += 1) {
    // Room for the ending, whatever the parent's length.
    const name = `${parent.slice(0, 100)}-fork-${at}${count === 1 ? "" : `-${count}`}`;
    if ((await store.header(name)) === undefined) return name;
  }
}
