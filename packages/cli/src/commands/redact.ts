import { historyFolder, repairParts } from "palimpsest/compaction";
import { type Means, redact } from "palimpsest/threads";
import { wholeNumber } from "../arguments.ts";
import type { Context, Run } from "../command.ts";
import { Failure } from "../failure.ts";
import { busy, missingThread, withThread } from "../home.ts";

export const run: Run = async ({ positionals }, context) => {
  const thread = positionals[0]!;
  const seq = wholeNumber(positionals[1]!, "SEQ", 1);
  const result = await withThread(context, thread, async (means) => {
    const redacted = await redact(means, thread, seq);
    // Also when it was redacted before: whoever was killed in between may have left the words in a file.
    if ("threads" in redacted) await cleanParts(context, means, redacted.threads);
    return redacted;
  });
  switch (result.kind) {
    case "redacted":
    case "already-redacted":
      if (context.format === "json")
        await context.output.json({
          ...{ thread, redacted: seq, bodies: result.bodies },
          ...{ threads: result.threads, lentTo: result.lentTo },
        });
      else {
        const told = result.kind === "redacted" ? "Redacted" : "Redacted already, and nothing is left of it:";
        await context.output.line(`${told} message ${seq} of ${result.threads.join(", ")}.`);
        if (result.lentTo.length > 0)
          await context.output.line(`Erased what was lent of it as evidence in ${result.lentTo.join(", ")}.`);
      }
      return 0;
    case "no-message":
      throw new Failure(
        "no-message",
        `Record ${seq} of "${thread}" is not a message: "palimpsest replay ${thread}" shows their numbers.`,
      );
    case "busy":
      throw busy(result.thread, result.expiresAt);
    case "missing":
      throw missingThread(context, thread);
    case "lease-lost":
    case "conflict":
      throw busy(thread);
  }
};

/** Part files hold the originals of what is hidden: the erased words must leave them too. */
async function cleanParts({ home }: Context, { store }: Means, threads: readonly string[]): Promise<void> {
  for (const thread of threads) {
    const head = await store.head(thread);
    if (head) await repairParts(historyFolder(home, thread), store, thread, head.compaction);
  }
}
