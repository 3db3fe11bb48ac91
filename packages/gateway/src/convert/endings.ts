/** The files that become Markdown, by the ending of their name, and the module that reads each kind. */
import type { explainMissing } from "palimpsest/internal/models";

/** The Markdown in pieces, so that its reader can stop at a limit. */
export type Pieces = AsyncIterable<string> | Iterable<string>;

export type Converter = (bytes: Buffer) => Pieces | Promise<Pieces>;

export const CONVERTERS: Readonly<Record<string, () => Promise<Converter>>> = {
  html: webPage,
  htm: webPage,
  xhtml: webPage,
  docx: async () => (await import("./word.ts")).wordMarkdown,
  pptx: async () => (await import("./slides.ts")).slidesMarkdown,
  xlsx: async () => (await import("./sheets.ts")).sheetsMarkdown,
  pdf: async () => (await import("./pdf.ts")).pdfMarkdown,
  ipynb: async () => (await import("./notebook.ts")).notebookMarkdown,
};

async function webPage(): Promise<Converter> {
  const { webPageMarkdown } = await import("./web-page.ts");
  return (bytes) => webPageMarkdown(bytes.toString("utf8"));
}

/** Null if a model reads the file as it is, or nothing here can read it. */
export function endingOf(name: string): string | null {
  const ending = /\.([a-z]{2,5})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(CONVERTERS, ending) ? ending : null;
}

const WEB_PAGE = "hast-util-from-html@2 hast-util-to-mdast@10 mdast-util-to-markdown@2";

/** Optional peers of this package; the command brings them. */
export const CONVERTING_PACKAGES: NonNullable<Parameters<typeof explainMissing>[1]> = [
  { name: "hast-util-from-html", version: "2", use: "A web page or Word file as Markdown", install: WEB_PAGE },
  { name: "hast-util-to-mdast", version: "10", use: "A web page or Word file as Markdown", install: WEB_PAGE },
  { name: "hucre", version: "1", use: "An Excel file as Markdown" },
  { name: "mammoth", version: "1", use: "A Word file as Markdown", install: `mammoth@1 ${WEB_PAGE}` },
  { name: "mdast-util-to-markdown", version: "2", use: "A web page or Word file as Markdown", install: WEB_PAGE },
  { name: "unpdf", version: "1", use: "A PDF file as Markdown" },
];
