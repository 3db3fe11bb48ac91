/**
 * Documents that a model can't read as they are, as Markdown: web pages, office files, notebooks. Pure: bytes in, text
 * out, in bounded time and space, whatever the bytes are. What can't be read is said, never thrown.
 */
import { errorText } from "@palimpsest/core/internal/text";
import { htmlMarkdown } from "./html.ts";
import { notebookMarkdown } from "./notebook.ts";
import { docxMarkdown, pptxMarkdown, xlsxMarkdown } from "./office.ts";

export type Conversion =
  | { readonly kind: "converted"; readonly text: string }
  /** The model reads it as it is, or nothing here can. */
  | { readonly kind: "as-is" }
  | { readonly kind: "failed"; readonly problem: string };

const CONVERTERS: Readonly<Record<string, (bytes: Buffer) => string>> = {
  html: (bytes) => htmlMarkdown(bytes.toString("utf8")),
  htm: (bytes) => htmlMarkdown(bytes.toString("utf8")),
  xhtml: (bytes) => htmlMarkdown(bytes.toString("utf8")),
  docx: docxMarkdown,
  pptx: pptxMarkdown,
  xlsx: xlsxMarkdown,
  ipynb: (bytes) => notebookMarkdown(bytes.toString("utf8")),
};

/** By its name's ending: what a file claims to be is what its reader expects. */
export function toMarkdown(name: string, bytes: Buffer): Conversion {
  const ending = /\.([a-z]{2,5})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  const convert = Object.hasOwn(CONVERTERS, ending) ? CONVERTERS[ending] : undefined;
  if (convert === undefined) return { kind: "as-is" };
  try {
    const text = tidy(convert(bytes));
    if (text === "") return { kind: "failed", problem: "there is no text in it" };
    return { kind: "converted", text: text.length > MOST ? `${text.slice(0, MOST)}\n\n(cut off here)\n` : text };
  } catch (error) {
    return { kind: "failed", problem: errorText(error) };
  }
}

const MOST = 4_000_000;

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
