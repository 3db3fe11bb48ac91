import { redact } from "palimpsest/internal/acting";
import type { ResultOf } from "palimpsest/internal/operation";
import { wholeNumber } from "../command/arguments.ts";
import type { Input, Printing } from "../command/command.ts";
import { performing } from "../home/acts.ts";
import { counted } from "../terminal/counted.ts";

export const { run, remote } = performing(redact, {
  input: ({ positionals: [thread, seq] }: Input) => ({ thread: thread!, seq: wholeNumber(seq!, "SEQ", 1) }),
  show,
  hints: { "no-message": '"palimpsest replay T" shows their numbers' },
});

async function show(document: ResultOf<typeof redact>, { format, output }: Printing): Promise<number> {
  const { redacted, threads, lentTo, facts, shownIn, copies, summaries, busy: held, left } = document;
  if (left !== null)
    output.note(`Another process is reading the database: ${left} still holds the words until it has ended.`);
  for (const one of held)
    output.note(`Thread "${one}" is in use and still shows what was learned of it: redact again when it has ended.`);
  const code = held.length === 0 ? 0 : 1;
  if (format === "json") {
    await output.json(document);
    return code;
  }
  const told =
    document.before === undefined ? "Redacted" : "Redacted already, and nothing that was made of it is left:";
  await output.line(`${told} message ${redacted} of ${threads.join(", ")}.`);
  if (summaries.rebuilt > 0)
    await output.line(
      `Made ${counted(summaries.rebuilt, "summary", "summaries")} anew from the messages that are left, without a model; pinned messages stay.`,
    );
  if (summaries.erased > 0)
    await output.line(`Erased ${counted(summaries.erased, "summary", "summaries")} that could not be made anew.`);
  if (lentTo.length > 0) await output.line(`Erased what was lent of it as evidence in ${lentTo.join(", ")}.`);
  if (facts.length > 0) await output.line(`Forgot what was learned from it: ${facts.join(", ")}.`);
  if (shownIn.length > 0) await output.line(`Erased that where it was shown, in ${shownIn.join(", ")}.`);
  if (copies.length > 0)
    await output.line(`Deleted memories that could not be read and held it: ${copies.join(", ")}.`);
  return code;
}
