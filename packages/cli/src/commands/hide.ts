import type { ResultOf } from "palimpsest/internal/operation";
import { type foldRange, hide, show } from "palimpsest/internal/shaping";
import { wholeNumber } from "../command/arguments.ts";
import type { Input, Printing } from "../command/command.ts";
import { performing } from "../home/acts.ts";
import { grouped } from "../terminal/grouped.ts";

interface HideOptions {
  readonly "dry-run"?: boolean;
}

export const hiding = performing(hide, {
  input: ({ positionals: [thread = "", place = ""], options: { "dry-run": dryRun = false } }: Input<HideOptions>) => ({
    thread,
    ...placeOf(place),
    dryRun,
  }),
  show: shownCut,
});

export const showing = performing(show, {
  input: ({ positionals: [thread = "", place = ""] }: Input) => ({ thread, ...placeOf(place) }),
  async show(document: ResultOf<typeof show>, { format, output }: Printing) {
    if (format === "json") await output.json(document);
    else await output.line(`Message ${document.shown} of ${document.thread} is shown again.`);
    return 0;
  },
});

/** `12` is a message, `12.0` its first part. */
function placeOf(text: string): { readonly seq: number; readonly part?: number } {
  const [seq = "", part] = text.split(".");
  const message = wholeNumber(seq, "SEQ", 1);
  return part === undefined ? { seq: message } : { seq: message, part: wholeNumber(part, "PART", 0) };
}

export async function shownCut(
  document: ResultOf<typeof hide> | ResultOf<typeof foldRange>,
  { format, output }: Printing,
): Promise<number> {
  if (format === "json") {
    await output.json(document);
    return 0;
  }
  const { thread, range, seq, tokensBefore, tokensAfter, rereads, paysAfter } = document;
  const what = range[0] === range[1] ? `message ${range[0]}` : `messages ${range[0]} to ${range[1]}`;
  const pays = paysAfter === null ? "" : `, which has paid for itself after ${grouped(paysAfter)} requests`;
  await output.line(
    `${seq === null ? "Would hide" : "Hid"} ${what} of ${thread}: ${grouped(tokensBefore)} -> ${grouped(tokensAfter)} tokens; ` +
      `the next request reads ${grouped(rereads)} tokens without the cache${pays}.`,
  );
  if (seq !== null) await output.line(`"palimpsest undo ${thread} ${seq}" takes it back.`);
  return 0;
}
