import { forkInHome } from "palimpsest/internal/assistant";
import { forkDocument } from "palimpsest/internal/documents";
import type { Printing, Remote, Run } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { threadPath } from "../command/server.ts";
import { missingThread, requireThreadId, withThread } from "../home/home.ts";

interface Options {
  readonly at?: number;
  readonly as?: string;
}

export const run: Run<Options> = async ({ positionals, options }, context) => {
  const parent = positionals[0]!;
  const { at, as: given } = checked(options);
  const result = await withThread(context, parent, (home) => forkInHome(home, parent, { as: given, at }));
  switch (result.kind) {
    case "forked":
      return show(forkDocument(parent, result), context);
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

export const remote: Remote<Options> = async ({ positionals, options }, context) => {
  const document = await context.server.send("POST", threadPath(positionals[0]!, "/fork"), checked(options));
  return show(document as ReturnType<typeof forkDocument>, context);
};

function checked({ at, as }: Options): Options & { readonly at: number } {
  if (at === undefined) throw new UsageError("--at is missing. Usage: palimpsest fork T --at SEQ [--as T2]");
  if (as !== undefined) requireThreadId(as);
  return { at, ...(as !== undefined && { as }) };
}

async function show(document: ReturnType<typeof forkDocument>, { format, output }: Printing): Promise<number> {
  const { thread, parent, at } = document;
  if (format === "json") await output.json(document);
  else await output.line(`Forked ${parent} at record ${at} as ${thread}.`);
  return 0;
}
