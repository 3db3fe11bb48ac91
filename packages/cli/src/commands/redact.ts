import { redactDocument } from "palimpsest/internal/documents";
import { eraseMessage } from "palimpsest/internal/memory";
import type { ErasedMessage } from "palimpsest/memory";
import { wholeNumber } from "../command/arguments.ts";
import type { Context, Printing, Remote, Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { threadPath } from "../command/server.ts";
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
  noteScrubbed(context, result.scrubbed);
  return show(redactDocument(threadId, result), context, result.kind);
}

export const remote: Remote = async ({ positionals }, context) => {
  const seq = wholeNumber(positionals[1]!, "SEQ", 1);
  const document = await context.server.send<RedactDocument>("POST", threadPath(positionals[0]!, "/redact"), { seq });
  if (document.left !== null)
    context.output.note(
      "Another process of the server is reading its database: a file of it still holds the words until it has ended.",
    );
  return show(document, context, "redacted");
};

type RedactDocument = ReturnType<typeof redactDocument>;

async function show(document: RedactDocument, { format, output }: Printing, kind: Done["kind"]): Promise<number> {
  const { redacted, threads, lentTo, facts, shownIn, copies, busy: held } = document;
  for (const one of held)
    output.note(`Thread "${one}" is in use and still shows what was learned of it: redact again when it has ended.`);
  const code = held.length === 0 ? 0 : 1;
  if (format === "json") {
    await output.json(document);
    return code;
  }
  const told = kind === "redacted" ? "Redacted" : "Redacted already, and nothing that was made of it is left:";
  await output.line(`${told} message ${redacted} of ${threads.join(", ")}.`);
  if (lentTo.length > 0) await output.line(`Erased what was lent of it as evidence in ${lentTo.join(", ")}.`);
  if (facts.length > 0) await output.line(`Forgot what was learned from it: ${facts.join(", ")}.`);
  if (shownIn.length > 0) await output.line(`Erased that where it was shown, in ${shownIn.join(", ")}.`);
  if (copies.length > 0)
    await output.line(`Deleted memories that could not be read and held it: ${copies.join(", ")}.`);
  return code;
}
