import { redactDocument } from "palimpsest/internal/documents";
import { eraseMessage } from "palimpsest/internal/memory";
import type { ErasedMessage } from "palimpsest/memory";
import { wholeNumber } from "../command/arguments.ts";
import type { Context, Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { busy, missingThread, noteScrubbed, withThread } from "../home/home.ts";

export const run: Run = async ({ positionals }, context) => {
  const threadId = positionals[0]!;
  const seq = wholeNumber(positionals[1]!, "SEQ", 1);
  const result = await withThread(context, threadId, async (home) =>
    eraseMessage(await home.eraseDeps(), threadId, seq),
  );
  switch (result.kind) {
    case "redacted":
    case "already-redacted":
      return report(result, threadId, context);
    case "no-message":
      throw new Failure(
        "no-message",
        `Record ${seq} of "${threadId}" is not a message: "palimpsest replay ${threadId}" shows their numbers.`,
      );
    case "busy":
      throw busy(result.threadId, result.expiresAt);
    case "missing":
      throw missingThread(context, threadId);
    case "lease-lost":
    case "conflict":
      throw busy(threadId);
  }
};

type Done = Extract<ErasedMessage, { readonly threads: readonly string[] }>;

async function report(result: Done, threadId: string, context: Context): Promise<number> {
  const { kind, seq, threads, evidenceIn, facts, shownIn, copies } = result;
  const { output } = context;
  noteScrubbed(context, result.scrubbed);
  for (const one of result.busy)
    output.note(`Thread "${one}" is in use and still shows what was learned of it: redact again when it has ended.`);
  const code = result.busy.length === 0 ? 0 : 1;
  if (context.format === "json") {
    await output.json(redactDocument(threadId, result));
    return code;
  }
  const told = kind === "redacted" ? "Redacted" : "Redacted already, and nothing that was made of it is left:";
  await output.line(`${told} message ${seq} of ${threads.join(", ")}.`);
  if (evidenceIn.length > 0) await output.line(`Erased what was lent of it as evidence in ${evidenceIn.join(", ")}.`);
  if (facts.length > 0) await output.line(`Forgot what was learned from it: ${facts.join(", ")}.`);
  if (shownIn.length > 0) await output.line(`Erased that where it was shown, in ${shownIn.join(", ")}.`);
  if (copies.length > 0)
    await output.line(`Deleted memories that could not be read and held it: ${copies.join(", ")}.`);
  return code;
}
