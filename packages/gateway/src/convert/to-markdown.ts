/**
 * Documents that a model can't read as they are, as Markdown. The libraries behind it take as long and as much memory as
 * a file makes them, so this runs in a thread of its own with limits (`convert-apart.ts`). What can't be read is said,
 * never thrown.
 */
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { errorText } from "@palimpsest/core/internal/text";
import { explainMissing } from "palimpsest/internal/models";
import { CONVERTERS, CONVERTING_PACKAGES, endingOf, type Pieces } from "./formats.ts";

export type Conversion =
  | { readonly kind: "converted"; readonly text: string }
  /** The model reads it as it is, or nothing here can. */
  | { readonly kind: "as-is" }
  | { readonly kind: "failed"; readonly code: FailureCode; readonly problem: string };

/** `too-costly`: it took more time or memory than a file may. */
type FailureCode = "unreadable" | "no-text" | "too-costly" | "missing-package";

/** By its name's ending: what a file claims to be is what its reader expects. */
export async function toMarkdown(name: string, bytes: Buffer): Promise<Conversion> {
  const ending = endingOf(name);
  if (ending === null) return { kind: "as-is" };
  try {
    const text = tidy(await cutOff(await CONVERTERS[ending]!(bytes)));
    if (text === "") return { kind: "failed", code: "no-text", problem: "there is no text in it" };
    return { kind: "converted", text };
  } catch (thrown) {
    const error = explainMissing(thrown, CONVERTING_PACKAGES);
    const isMissing = PalimpsestError.isInstance(error) && error.code === "missing-package";
    return { kind: "failed", code: isMissing ? "missing-package" : "unreadable", problem: problemOf(error) };
  }
}

function problemOf(error: unknown): string {
  return error instanceof RangeError && /call stack/.test(error.message)
    ? "its parts are nested too deep"
    : errorText(error).slice(0, 500);
}

/** Most characters that are made of one file. */
const MOST = 4_000_000;

/** Ends the writer at the limit, however much it would still write. */
async function cutOff(pieces: Pieces): Promise<string> {
  let text = "";
  for await (const piece of pieces) {
    text += piece.slice(0, MOST);
    if (text.length > MOST) return `${text.slice(0, MOST).toWellFormed()}\n\n(cut off here)\n`;
  }
  return text;
}

/** No control characters, no trailing blanks, at most one empty line. */
function tidy(text: string): string {
  const lines = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd());
  const kept = lines.filter((line, index) => line !== "" || lines[index - 1] !== "");
  const joined = kept.join("\n").trim();
  return joined === "" ? "" : `${joined}\n`;
}
