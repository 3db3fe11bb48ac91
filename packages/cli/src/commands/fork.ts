import { forkInHome } from "palimpsest/internal/assistant";
import type { Run } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { missingThread, requireThreadId, withThread } from "../home/home.ts";

export const run: Run<{ readonly at?: number; readonly as?: string }> = async ({ positionals, options }, context) => {
  const parent = positionals[0]!;
  const { at, as: given } = options;
  if (at === undefined) throw new UsageError("--at is missing. Usage: palimpsest fork T --at SEQ [--as T2]");
  if (given !== undefined) requireThreadId(given);
  const result = await withThread(context, parent, (home) => forkInHome(home, parent, { as: given, at }));
  switch (result.kind) {
    case "forked":
      if (context.format === "json") await context.output.json({ thread: result.threadId, parent, at: result.at });
      else await context.output.line(`Forked ${parent} at record ${at} as ${result.threadId}.`);
      return 0;
    case "workspace-full":
      throw new Failure("workspace-full", `Not forked: ${result.message}`);
    case "exists":
      throw new Failure("exists", `Thread "${result.threadId}" exists already: choose another name with --as.`);
    case "beyond-end":
      throw new Failure("beyond-end", `Thread "${parent}" has no record ${at}: choose an earlier --at.`);
    case "missing":
      throw missingThread(context, parent);
  }
};
