import { verify } from "palimpsest/threads";
import type { Run } from "../command/command.ts";
import { missingThread, withThread } from "../home/home.ts";

export const run: Run = async ({ positionals }, context) => {
  const thread = positionals[0]!;
  const verdict = await withThread(context, thread, (deps) => verify(deps, thread));
  if (verdict.kind === "missing") throw missingThread(context, thread);
  const { records, redacted } = verdict;
  const firstBad = verdict.kind === "broken" ? verdict.firstBad : undefined;
  if (context.format === "json") {
    await context.output.json({ ok: firstBad === undefined, records, redacted, ...(firstBad && { firstBad }) });
  } else if (firstBad === undefined) {
    await context.output.line(`${thread}: ${records} records, the chain is whole.`);
  } else context.output.note(`palimpsest: ${thread} is not as it was written. ${firstBad.detail}.`);
  if (redacted.length > 0 && context.format === "text") context.output.note(`redacted: ${redacted.join(", ")}`);
  return firstBad === undefined ? 0 : 1;
};
