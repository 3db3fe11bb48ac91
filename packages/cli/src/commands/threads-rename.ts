import { MOST_TITLE, renameThread, titleFrom } from "palimpsest/internal/assistant";
import { renameDocument } from "palimpsest/internal/documents";
import type { Printing, Remote, Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { threadPath } from "../command/server.ts";
import { busy, missingThread, withThread } from "../home/home.ts";

export const run: Run = async ({ positionals }, context) => {
  const [threadId, given] = positionals as [string, string];
  const title = titleFrom(given);
  if (title === null) throw new UsageError(`TITLE has 1 to ${MOST_TITLE} characters.`);
  const held = await withThread(context, threadId, (home) => renameThread(home, threadId, title));
  if (held.kind === "missing") throw missingThread(context, threadId);
  if (held.kind === "busy") throw busy(threadId, held);
  if (held.value.kind !== "committed") throw busy(threadId);
  return show(renameDocument(threadId, title), context);
};

export const remote: Remote = async ({ positionals }, context) => {
  const [threadId, title] = positionals as [string, string];
  return show(await context.server.send("PATCH", threadPath(threadId), { title }), context);
};

async function show(document: ReturnType<typeof renameDocument>, { format, output }: Printing): Promise<number> {
  if (format === "json") await output.json(document);
  else await output.line(`${document.thread} is called ${JSON.stringify(document.title)} now.`);
  return 0;
}
