import { pinDocument } from "palimpsest/internal/documents";
import { withWriter } from "palimpsest/internal/threads";
import { pin } from "palimpsest/threads";
import { wholeNumber } from "../command/arguments.ts";
import type { Printing, Remote, Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { threadPath } from "../command/server.ts";
import { busy, missingThread, withThread } from "../home/home.ts";

export const run: Run<{ readonly off?: boolean }> = async ({ positionals, options }, context) => {
  const threadId = positionals[0]!;
  const target = wholeNumber(positionals[1]!, "SEQ", 1);
  const on = options.off ? "off" : "on";
  const outcome = await withThread(context, threadId, (deps) =>
    withWriter(deps, threadId, (writer) => pin(writer, target, on)),
  );
  if (outcome.kind === "busy") throw busy(threadId, outcome.expiresAt);
  if (outcome.kind === "missing") throw missingThread(context, threadId);
  const result = outcome.value;
  if (result.kind === "no-message")
    throw new Failure(
      "no-message",
      `Record ${target} of "${threadId}" is not a message: "palimpsest replay ${threadId}" shows their numbers.`,
    );
  if (result.kind !== "committed") throw busy(threadId);
  return show(pinDocument(threadId, target, on === "on"), context);
};

export const remote: Remote<{ readonly off?: boolean }> = async ({ positionals, options }, context) => {
  const seq = wholeNumber(positionals[1]!, "SEQ", 1);
  const body = { seq, on: options.off !== true };
  return show(await context.server.send("POST", threadPath(positionals[0]!, "/pin"), body), context);
};

async function show(document: ReturnType<typeof pinDocument>, { format, output }: Printing): Promise<number> {
  const { thread, pinned, on } = document;
  if (format === "json") await output.json(document);
  else await output.line(`${on ? "Pinned" : "Unpinned"} message ${pinned} of ${thread}.`);
  return 0;
}
