import { withWriter } from "palimpsest/internal/threads";
import { pin } from "palimpsest/threads";
import { wholeNumber } from "../command/arguments.ts";
import type { Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
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
  if (context.format === "json") await context.output.json({ thread: threadId, pinned: target, on: on === "on" });
  else await context.output.line(`${on === "on" ? "Pinned" : "Unpinned"} message ${target} of ${threadId}.`);
  return 0;
};
