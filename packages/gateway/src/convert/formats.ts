/**
 * The files that become Markdown, by the ending of their name, and what reads each kind. Libraries are loaded when a file needs
 * them.
 */

import { isRecord } from "@palimpsest/core/internal/text";
import type { Handle } from "hast-util-to-mdast";
import type { Handle as WriteHandle } from "mdast-util-to-markdown";
import { zipEntries } from "palimpsest/internal/import";
import type { explainMissing } from "palimpsest/internal/models";

/** The Markdown in pieces, so that its reader can stop at a limit. */
export type Pieces = AsyncIterable<string> | Iterable<string>;

type Converter = (bytes: Buffer) => Pieces | Promise<Pieces>;

export const CONVERTERS: Readonly<Record<string, Converter>> = {
  html: webPage,
  htm: webPage,
  xhtml: webPage,
  docx: wordMarkdown,
  pptx: slidesMarkdown,
  xlsx: sheetsMarkdown,
  pdf: pdfMarkdown,
  ipynb: notebookMarkdown,
};

function webPage(bytes: Buffer): Pieces {
  return webPageMarkdown(bytes.toString("utf8"));
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

/* A Word file as Markdown: `mammoth` makes a web page of it, by its styles; pictures are left out. */

async function wordMarkdown(bytes: Buffer): Promise<AsyncIterable<string>> {
  await assertUnpacks(bytes);
  const { default: mammoth } = await import("mammoth");
  const noPicture = mammoth.images.imgElement(async () => ({ src: "" }));
  const { value } = await mammoth.convertToHtml({ buffer: bytes }, { convertImage: noPicture });
  return webPageMarkdown(value);
}

/* A PowerPoint file as Markdown: the words of each slide, in order. No library in use here reads these. */

async function* slidesMarkdown(bytes: Buffer): AsyncGenerator<string> {
  const number = (name: string) => Number(SLIDE.exec(name)?.[1]);
  const files = (await packedFiles(bytes)).filter(({ name }) => SLIDE.test(name));
  const slides = files.toSorted((a, b) => number(a.name) - number(b.name));
  if (slides.length === 0) throw new Error("it has no slides");
  for (const [index, slide] of slides.entries()) {
    yield `\n\n## Slide ${index + 1}\n\n`;
    yield* paragraphs((await slide.content()).toString("utf8"));
  }
}

const SLIDE = /^ppt\/slides\/slide(\d{1,6})\.xml$/;

function* paragraphs(slide: string): Generator<string> {
  let isText = false;
  let paragraph = "";
  for (const token of tokens(slide)) {
    if (token.kind === "text") {
      if (isText) paragraph += token.text;
    } else if (token.name === "a:t") isText = token.kind === "open" && !token.isClosed;
    else if (token.name === "a:p" && token.kind === "close") {
      if (paragraph.trim() !== "") yield `${paragraph}\n\n`;
      paragraph = "";
    }
  }
}

/* An Excel file as Markdown: each sheet with its name and a table of its values. */

async function sheetsMarkdown(bytes: Buffer): Promise<Iterable<string>> {
  await assertUnpacks(bytes);
  const { readXlsx } = await import("hucre/xlsx");
  // One row more tells whether there are more.
  const { sheets } = await readXlsx(bytes, { range: `A1:${lastColumn()}${MOST_ROWS + 1}` });
  return written(sheets);
}

interface Sheet {
  readonly name: string;
  readonly rows: readonly (readonly unknown[])[];
}

function* written(sheets: readonly Sheet[]): Generator<string> {
  for (const { name, rows } of sheets) {
    yield `\n\n## ${name.replaceAll(/\s+/g, " ")}\n\n`;
    yield* tableLines(rows.map((row) => row.map(valueText)));
  }
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : dateText(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A date without a time of day stands alone. */
function dateText(date: Date): string {
  return date.toISOString().replace(/T00:00:00\.000Z$|\.000Z$/, "");
}

/** `GR` for 200. */
function lastColumn(): string {
  const index = MOST_COLUMNS - 1;
  return String.fromCharCode(64 + Math.floor(index / 26), 65 + (index % 26));
}

/* A PDF as Markdown: the words of each page, line by line. Pictures of words aren't read. */

async function* pdfMarkdown(bytes: Buffer): AsyncGenerator<string> {
  const { getDocumentProxy } = await import("unpdf");
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    let text = "";
    for (const item of items) if ("str" in item) text += item.hasEOL ? `${item.str}\n` : item.str;
    if (text.trim() !== "") yield `\n\n## Page ${number}\n\n${text}`;
    page.cleanup();
  }
}

/* A notebook as Markdown: its texts, its code, and what the code printed. */

interface Cell {
  readonly cell_type?: unknown;
  readonly source?: unknown;
  readonly outputs?: unknown;
}

function* notebookMarkdown(bytes: Buffer): Generator<string> {
  const { cells }: { readonly cells?: unknown } = JSON.parse(bytes.toString("utf8"));
  if (!Array.isArray(cells)) throw new Error("it has no cells");
  for (const { cell_type, source, outputs } of cells as Cell[]) {
    const text = joined(source);
    if (cell_type === "code") {
      yield `${fenced(text, "python")}\n\n`;
      const printed = Array.isArray(outputs) ? outputs.map(outputText).filter((one) => one !== "") : [];
      for (const one of printed) yield `${fenced(one, "")}\n\n`;
    } else yield `${text}\n\n`;
  }
}

function outputText(output: unknown): string {
  const { text, data } = isRecord(output) ? output : {};
  return joined(text ?? (isRecord(data) ? data["text/plain"] : undefined));
}

function joined(source: unknown): string {
  if (typeof source === "string") return source;
  return Array.isArray(source) ? source.filter((line) => typeof line === "string").join("") : "";
}

function fenced(code: string, language: string): string {
  return `\`\`\`${language}\n${code.replaceAll("```", "'''")}\n\`\`\``;
}

/* Rows as a Markdown table, within bounds, whatever the rows hold. */

const MOST_ROWS = 5000;
const MOST_COLUMNS = 200;

/** Only the head is padded to the widest row: padding them all would make much of little. */
function* tableLines(rows: readonly (readonly string[])[]): Generator<string> {
  const width = Math.min(
    MOST_COLUMNS,
    rows.reduce((most, row) => Math.max(most, row.length), 0),
  );
  if (width === 0) return;
  const [head = [], ...rest] = rows;
  yield line(Array.from({ length: width }, (_, index) => head[index] ?? ""));
  yield `|${" --- |".repeat(width)}\n`;
  for (const row of rest.slice(0, MOST_ROWS - 1)) yield line(row.slice(0, MOST_COLUMNS));
  if (rows.length > MOST_ROWS) yield `\n(only the first ${MOST_ROWS} rows)\n`;
}

function line(row: readonly string[]): string {
  return `| ${row.map(cell).join(" | ")} |\n`;
}

/** On one line. As long as a cell of Excel can be. */
function cell(text: string): string {
  return text.slice(0, MOST_CELL).trim().replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
}

const MOST_CELL = 32_767;

/* Tags and texts of XML, one after the other, without a tree. Never fails: what is no tag is text. */

type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "open"; readonly name: string; readonly isClosed: boolean }
  | { readonly kind: "close"; readonly name: string };

function* tokens(markup: string): Generator<Token> {
  for (let at = 0; at < markup.length; ) {
    const start = markup.indexOf("<", at);
    if (start === -1 || start > at) {
      yield { kind: "text", text: unescaped(markup.slice(at, start === -1 ? undefined : start)) };
      if (start === -1) return;
    }
    if (markup.startsWith("<!--", start)) {
      at = after(markup, "-->", start);
      continue;
    }
    at = after(markup, ">", start);
    const tag = tagOf(markup.slice(start + 1, at - 1));
    if (tag !== null) yield tag;
  }
}

function after(markup: string, end: string, from: number): number {
  const at = markup.indexOf(end, from);
  return at === -1 ? markup.length + 1 : at + end.length;
}

function tagOf(inner: string): Token | null {
  if (/^[!?]/.test(inner)) return null;
  if (inner.startsWith("/")) return { kind: "close", name: inner.slice(1).trim().toLowerCase() };
  const space = inner.search(/[\s/]/);
  const name = (space === -1 ? inner : inner.slice(0, space)).toLowerCase();
  return { kind: "open", name, isClosed: inner.endsWith("/") };
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{2,8}));/g,
    (whole, ...[decimal, hex, name]: (string | undefined)[]) => {
      if (name !== undefined) return NAMED[name] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
      return isCharacter ? String.fromCodePoint(code) : "";
    },
  );
}

/*
 * A web page as Markdown: headings, paragraphs, lists, links, code and tables. Scripts, styles, pictures and hidden parts
 * are left out, and links that lead nowhere a reader could go. The page is parsed as browsers do it.
 */

type Element = Parameters<Handle>[1];
type Child = Element["children"][number];

async function* webPageMarkdown(html: string): AsyncGenerator<string> {
  const { fromHtml } = await import("hast-util-from-html");
  const { defaultHandlers, toMdast } = await import("hast-util-to-mdast");
  const { toMarkdown } = await import("mdast-util-to-markdown");
  const page = fromHtml(html);
  leaveOut(page);
  const a: Handle = (state, link) =>
    /^https?:\/\//.test(String(link.properties["href"])) ? defaultHandlers.a(state, link) : state.all(link);
  const document = toMdast(page, { document: true, handlers: { a, img: alternative, table, ...CELLS } });
  const blocks = "children" in document ? document.children : [];
  for (let at = 0; at < blocks.length; at += BATCH) {
    const tree = { ...document, children: blocks.slice(at, at + BATCH) } as Parameters<typeof toMarkdown>[0];
    yield `${toMarkdown(tree, { bullet: "-", rule: "-", handlers: { table: tableText, break: () => "\n" } })}\n\n`;
  }
}

/** Blocks that are written at a time: the writer can be ended between two of them. */
const BATCH = 50;

const SILENT: ReadonlySet<string> = new Set(["script", "style", "noscript", "template", "svg", "head", "iframe"]);

/** Takes out what isn't shown. Without recursion: a page may be nested as deep as it likes. */
function leaveOut(page: { children: unknown[] }): void {
  const parents = [page as { children: Child[] }];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    parent.children = parent.children.filter(
      (child) =>
        child.type === "text" ||
        (child.type === "element" && !SILENT.has(child.tagName) && child.properties["hidden"] === undefined),
    );
    for (const child of parent.children) if (child.type === "element") parents.push(child);
  }
}

const alternative: Handle = (_, image) => {
  const value = String(image.properties["alt"] ?? "");
  return value === "" ? undefined : { type: "text", value };
};

const inner: Handle = (state, element) => state.all(element);
const CELLS = { tr: inner, td: inner, th: inner };

/** Rows and cells as they stand, unlike the library's, which pads all of them. A table in a table is only its words. */
const table: Handle = (state, element) => {
  if (state.inTable) return state.all(element);
  state.inTable = true;
  const cellsOf = (row: Element) =>
    elementsIn(row, ["td", "th"])
      .slice(0, MOST_COLUMNS)
      .map((cell) => ({ type: "tableCell", children: state.toFlow(state.all(cell)) }));
  const rows = elementsIn(element, ["tr"])
    .slice(0, MOST_ROWS + 1)
    .map((row) => ({ type: "tableRow", children: cellsOf(row) }));
  state.inTable = false;
  // Cells hold blocks here, which the type has no word for: our own writer puts them on one line.
  return { type: "table", children: rows } as unknown as ReturnType<Handle>;
};

/** Those of the element itself, not of what is nested in one. */
function elementsIn(element: Element, names: readonly string[]): Element[] {
  return element.children.flatMap((child) => {
    if (child.type !== "element") return [];
    if (names.includes(child.tagName)) return [child];
    return /^(?:thead|tbody|tfoot)$/.test(child.tagName) ? elementsIn(child, names) : [];
  });
}

const tableText: WriteHandle = (node, _, state, info) => {
  const { children: rows } = node as { readonly children: readonly { readonly children: readonly never[] }[] };
  return [...tableLines(rows.map(({ children }) => children.map((cell) => state.containerFlow(cell, info))))].join("");
};

/* Office files are zip archives. What is taken out of one is bounded, however small it was packed. */

/** Throws if the archive is none, or unpacks to more than is read here: the libraries have no such limit. */
async function assertUnpacks(bytes: Buffer): Promise<void> {
  for (const { content } of await packedFiles(bytes)) await content();
}

const MOST_FILES = 20_000;
const MOST_UNPACKED = 128 << 20;

/** The files of an archive. All contents together may have so many bytes. */
async function packedFiles(bytes: Buffer) {
  const entries = await zipEntries({ name: "it", bytes }, MOST_FILES);
  if (typeof entries === "string") throw new Error(entries);
  let room = MOST_UNPACKED;
  return entries.map(({ name, problem, chunks }) => ({
    name,
    async content(): Promise<Buffer> {
      if (problem !== null) throw new Error(problem);
      const pieces: Buffer[] = [];
      for await (const piece of chunks()) {
        room -= piece.length;
        if (room < 0) throw new Error("it unpacks to more than is read here");
        pieces.push(piece);
      }
      return Buffer.concat(pieces);
    },
  }));
}
