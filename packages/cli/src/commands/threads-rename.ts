import { commit, withWriter } from "palimpsest/internal/threads";
import type { Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { busy, missingThread, withThread } from "../home/home.ts";

export const run: Run = async ({ positionals }, context) => {
  const [thread, given] = positionals as [string, string];
  const title = given.replaceAll(/\s+/g, " ").trim();
  if (title === "" || title.length > MOST) throw new UsageError(`TITLE has 1 to ${MOST} characters.`);
  const held = await withThread(context, thread, (home) =>
    withWriter(home, thread, (writer) => commit(writer, [{ kind: "state", patch: { title } }])),
  );
  if (held.kind === "missing") throw missingThread(context, thread);
  if (held.kind === "busy") throw busy(thread, held.expiresAt);
  if (held.value.kind !== "committed") throw busy(thread);
  if (context.format === "json") await context.output.json({ thread, title });
  else await context.output.line(`${thread} is called ${JSON.stringify(title)} now.`);
  return 0;
};

const MOST = 200;
