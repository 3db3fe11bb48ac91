/** Word, PowerPoint and Excel files as Markdown: their words in order, headings, lists and tables. Looks are left out. */
import { attribute, type Token, tableOf, tokens } from "./markup.ts";
import { readZip, type Zip } from "./zip.ts";

export function docxMarkdown(bytes: Buffer): string {
  const zip = readZip(bytes);
  const document = zip.text("word/document.xml");
  if (document === "") throw new Error("it has no document");
  const out: string[] = [];
  let paragraph = { text: "", prefix: "" };
  const tables: string[][][] = [];
  const end = () => {
    const row = tables.at(-1)?.at(-1);
    if (row === undefined) out.push(paragraph.prefix + paragraph.text);
    else if (row.length > 0) row[row.length - 1] += ` ${paragraph.text}`;
    paragraph = { text: "", prefix: "" };
  };
  for (const token of words(document, "w:t")) {
    if (token.kind === "text") paragraph.text += token.text;
    else if (token.kind === "open") {
      if (token.name === "w:tab") paragraph.text += "\t";
      if (token.name === "w:br") paragraph.text += "\n";
      if (token.name === "w:numpr") paragraph.prefix ||= "- ";
      if (token.name === "w:pstyle") paragraph.prefix = headingOf(token.attributes) ?? paragraph.prefix;
      if (token.name === "w:tbl") tables.push([]);
      if (token.name === "w:tr") tables.at(-1)?.push([]);
      if (token.name === "w:tc") tables.at(-1)?.at(-1)?.push("");
      if (token.name === "w:p" && token.isClosed) end();
    } else if (token.name === "w:p") end();
    else if (token.name === "w:tbl") {
      const text = tableOf(tables.pop() ?? []);
      const outer = tables.at(-1)?.at(-1);
      if (outer === undefined) out.push(text);
      else if (outer.length > 0) outer[outer.length - 1] += ` ${text.replaceAll(/[|\n]/g, " ")}`;
    }
  }
  return out.join("\n\n");
}

function headingOf(attributes: string): string | null {
  const style = attribute(attributes, "w:val") ?? "";
  if (style === "Title") return "# ";
  const level = /^heading ?([1-6])$/i.exec(style)?.[1];
  return level === undefined ? null : `${"#".repeat(Number(level))} `;
}

export function pptxMarkdown(bytes: Buffer): string {
  const zip = readZip(bytes);
  const slides = numbered(zip, /^ppt\/slides\/slide(\d{1,6})\.xml$/);
  if (slides.length === 0) throw new Error("it has no slides");
  return slides.map((name, index) => `## Slide ${index + 1}\n\n${paragraphs(zip.text(name))}`).join("\n\n");
}

function paragraphs(slide: string): string {
  const out: string[] = [""];
  for (const token of words(slide, "a:t")) {
    if (token.kind === "text") out[out.length - 1] += token.text;
    if (token.kind === "close" && token.name === "a:p") out.push("");
  }
  return out.filter((text) => text.trim() !== "").join("\n\n");
}

const MOST_ROWS = 5000;
const MOST_COLUMNS = 200;

export function xlsxMarkdown(bytes: Buffer): string {
  const zip = readZip(bytes);
  const sheets = numbered(zip, /^xl\/worksheets\/sheet(\d{1,6})\.xml$/);
  if (sheets.length === 0) throw new Error("it has no sheets");
  const names: string[] = [];
  for (const token of tokens(zip.text("xl/workbook.xml")))
    if (token.kind === "open" && token.name === "sheet") names.push(attribute(token.attributes, "name") ?? "");
  const shared = sharedStrings(zip.text("xl/sharedStrings.xml"));
  return sheets
    .map((name, index) => {
      const { rows, isCut } = rowsOf(zip.text(name), shared);
      const note = isCut ? `\n\n(only the first ${MOST_ROWS} rows)` : "";
      return `## ${names[index] ?? `Sheet ${index + 1}`}\n\n${tableOf(rows)}${note}`;
    })
    .join("\n\n");
}

function sharedStrings(xml: string): string[] {
  const strings: string[] = [];
  for (const token of words(xml, "t")) {
    if (token.kind === "open" && token.name === "si") strings.push("");
    if (token.kind === "text" && strings.length > 0) strings[strings.length - 1] += token.text;
  }
  return strings;
}

function rowsOf(xml: string, shared: readonly string[]): { readonly rows: string[][]; readonly isCut: boolean } {
  const rows: string[][] = [];
  let cell = { column: 0, isShared: false, text: "" };
  let isValue = false;
  for (const token of tokens(xml)) {
    if (token.kind === "text") {
      if (isValue) cell.text += token.text;
      continue;
    }
    const isOpen = token.kind === "open" && !token.isClosed;
    if (token.name === "row" && isOpen) {
      if (rows.length === MOST_ROWS) return { rows, isCut: true };
      rows.push([]);
    } else if (token.name === "c" && token.kind === "open") {
      const place = attribute(token.attributes, "r");
      const column = place === null ? (rows.at(-1)?.length ?? 0) : columnOf(place);
      cell = { column, isShared: attribute(token.attributes, "t") === "s", text: "" };
    } else if (token.name === "c" && token.kind === "close" && cell.column < MOST_COLUMNS) {
      const row = rows.at(-1);
      while (row !== undefined && row.length < cell.column) row.push("");
      row?.push(cell.isShared ? (shared[Number(cell.text)] ?? "") : cell.text);
    } else if (token.name === "v" || token.name === "t") isValue = isOpen;
  }
  return { rows, isCut: false };
}

/** `AB12` as 27. */
function columnOf(place: string): number {
  let column = 0;
  for (const letter of place.slice(0, 4)) {
    if (letter < "A" || letter > "Z") break;
    column = column * 26 + letter.charCodeAt(0) - 64;
  }
  return Math.max(0, column - 1);
}

function numbered({ names }: Zip, pattern: RegExp): string[] {
  const number = (name: string) => Number(pattern.exec(name)?.[1]);
  return names.filter((name) => pattern.test(name)).toSorted((a, b) => number(a) - number(b));
}

/** All tags, and of the text only what stands in `name`. */
function* words(xml: string, name: string): Generator<Token> {
  let isInside = false;
  for (const token of tokens(xml)) {
    if (token.kind === "text") {
      if (isInside) yield token;
      continue;
    }
    if (token.name === name) isInside = token.kind === "open" && !token.isClosed;
    yield token;
  }
}
