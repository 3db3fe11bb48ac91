import { MOST_TITLE, renameThread, titleFrom } from "palimpsest/internal/assistant";
import type { Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { busy, missingThread, withThread } from "../home/home.ts";

export const run: Run = async ({ positionals }, context) => {
  const [threadId, given] = positionals as [string, string];
  const title = titleFrom(given);
  if (title === null) throw new UsageError(`TITLE has 1 to ${MOST_TITLE} characters.`);
  const held = await withThread(context, threadId, (home) => renameThread(home, threadId, title));
  if (held.kind === "missing") throw missingThread(context, threadId);
  if (held.kind === "busy") throw busy(threadId, held.expiresAt);
  if (held.value.kind !== "committed") throw busy(threadId);
  if (context.format === "json") await context.output.json({ thread: threadId, title });
  else await context.output.line(`${threadId} is called ${JSON.stringify(title)} now.`);
  return 0;
};
