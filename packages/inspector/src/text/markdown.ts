/**
 * Markdown as a tree of blocks: headings, lists, quotes, tables, code and rules. HTML in it stays text. Work is bounded: each
 * line is read once per level, and deeper levels than `DEEPEST` stay plain. An unfinished text is read as far as it goes. Pure.
 */
import { type Inline, inlinesOf } from "./markdown-inline.ts";

export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly inlines: readonly Inline[] }
  | { readonly kind: "paragraph"; readonly inlines: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | { readonly kind: "list"; readonly start: number | null; readonly items: readonly ListItem[] }
  | { readonly kind: "table"; readonly head: readonly TableCell[]; readonly rows: readonly (readonly TableCell[])[] }
  | { readonly kind: "rule" };

interface ListItem {
  /** Null: not a task. */
  readonly done: boolean | null;
  readonly blocks: readonly Block[];
}

interface TableCell {
  readonly align: "left" | "right" | "center" | null;
  readonly inlines: readonly Inline[];
}

export function markdownOf(text: string): readonly Block[] {
  return blocksIn(text.split("\n"), 0);
}

const DEEPEST = 8;

/** A block and the line behind it. */
interface TakenBlock {
  readonly block: Block;
  readonly end: number;
}

function blocksIn(lines: readonly string[], depth: number): readonly Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  const flush = () => {
    const text = paragraph.join("\n");
    paragraph = [];
    if (text.trim() !== "") blocks.push({ kind: "paragraph", inlines: inlinesOf(text) });
  };
  for (let at = 0; at < lines.length; ) {
    const taken = blockAt(lines, at, depth, paragraph.length > 0);
    if (taken === null) {
      const line = lines[at] ?? "";
      if (line.trim() === "") flush();
      else paragraph.push(line);
      at += 1;
      continue;
    }
    flush();
    blocks.push(taken.block);
    at = taken.end;
  }
  flush();
  return blocks;
}

function blockAt(lines: readonly string[], at: number, depth: number, isInParagraph: boolean): TakenBlock | null {
  const line = lines[at] ?? "";
  const heading = /^ {0,3}(#{1,6})(?=[ \t]|$)/.exec(line);
  if (heading !== null) {
    const [start, signs = ""] = heading;
    const words = line
      .slice(start.length)
      .trim()
      .replace(/(?:^| )#{1,20}$/, "");
    return { block: { kind: "heading", level: signs.length, inlines: inlinesOf(words) }, end: at + 1 };
  }
  if (isRule(line)) return { block: { kind: "rule" }, end: at + 1 };
  return (
    codeAt(lines, at) ??
    tableAt(lines, at) ??
    (depth < DEEPEST ? (quoteAt(lines, at, depth) ?? listAt(lines, at, depth, isInParagraph)) : null)
  );
}

function isRule(line: string): boolean {
  const signs = line.replaceAll(/[ \t]/g, "");
  return /^ {0,3}[-*_]/.test(line) && signs.length >= 3 && /^(?:-+|\*+|_+)$/.test(signs);
}

function codeAt(lines: readonly string[], at: number): TakenBlock | null {
  const line = lines[at] ?? "";
  const [open = "", indent = "", marks = ""] = /^( {0,3})(`{3,}|~{3,})/.exec(line) ?? [];
  const language = line.slice(open.length);
  if (marks === "" || language.includes("`")) return null;
  let end = at + 1;
  while (end < lines.length) {
    const close = (lines[end] ?? "").trim();
    if (close.startsWith(marks) && close.replaceAll(marks.charAt(0), "") === "") break;
    end += 1;
  }
  const inside = lines.slice(at + 1, end).map((line) => unindented(line, indent.length));
  // A fence that is still open: the rest of the answer is on its way.
  return { block: { kind: "code", language: language.trim(), text: inside.join("\n") }, end: end + 1 };
}

function tableAt(lines: readonly string[], at: number): TakenBlock | null {
  const [head = "", marks = ""] = lines.slice(at, at + 2);
  if (!head.includes("|") || !marks.includes("-")) return null;
  const columns = cellsOf(marks).map((cell) => cell.trim());
  const names = cellsOf(head);
  if (columns.length !== names.length || !columns.every((cell) => /^:?-+:?$/.test(cell))) return null;
  const aligns = columns.map(alignOf);
  const row = (texts: readonly string[]): readonly TableCell[] =>
    aligns.map((align, index) => ({ align, inlines: inlinesOf((texts[index] ?? "").trim()) }));
  let end = at + 2;
  while (lines[end]?.includes("|")) end += 1;
  const rows = lines.slice(at + 2, end).map((line) => row(cellsOf(line)));
  return { block: { kind: "table", head: row(names), rows }, end };
}

function cellsOf(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.replaceAll("\\|", "|"));
}

function alignOf(cell: string): TableCell["align"] {
  if (cell.endsWith(":")) return cell.startsWith(":") ? "center" : "right";
  return cell.startsWith(":") ? "left" : null;
}

function quoteAt(lines: readonly string[], at: number, depth: number): TakenBlock | null {
  let end = at;
  while (/^ {0,3}>/.test(lines[end] ?? "")) end += 1;
  if (end === at) return null;
  const inside = lines.slice(at, end).map((line) => line.replace(/^ {0,3}> ?/, ""));
  return { block: { kind: "quote", blocks: blocksIn(inside, depth + 1) }, end };
}

interface ListMarker {
  /** Null: a bullet. */
  readonly number: number | null;
  readonly indent: number;
  /** Where the item's text begins. */
  readonly content: number;
}

function markerOf(line: string): ListMarker | null {
  const match = /^( *)(?:[-*+]|(\d{1,9})[.)])( +|$)/.exec(line);
  if (match === null) return null;
  const [all, indent = "", number, spaces = ""] = match;
  const content = all.length - (spaces.length > 4 ? spaces.length - 1 : 0);
  return { number: number === undefined ? null : Number(number), indent: indent.length, content };
}

/** In the middle of a paragraph, only a number 1 begins a list: others are figures at the beginning of a line. */
function listAt(lines: readonly string[], at: number, depth: number, isInParagraph: boolean): TakenBlock | null {
  const first = markerOf(lines[at] ?? "");
  if (first === null || first.indent > 3 || (isInParagraph && (first.number ?? 1) !== 1)) return null;
  const items: ListItem[] = [];
  let end = at;
  for (;;) {
    const line = lines[end] ?? "";
    const marker = isRule(line) ? null : markerOf(line);
    if (marker === null || marker.indent > first.indent + 3) break;
    if ((marker.number === null) !== (first.number === null)) break;
    const next = itemEnd(lines, end, marker.content);
    const rest = lines.slice(end + 1, next).map((one) => unindented(one, marker.content));
    items.push(itemOf(line.slice(marker.content), rest, depth));
    end = next;
  }
  return items.length === 0 ? null : { block: { kind: "list", start: first.number, items }, end };
}

/** Its own lines: those that are indented, empty ones between them, and a paragraph's that simply goes on. */
function itemEnd(lines: readonly string[], at: number, content: number): number {
  let end = at + 1;
  let last = end;
  while (end < lines.length) {
    const line = lines[end] ?? "";
    const isEmpty = line.trim() === "";
    const goesOn = end === last && !isEmpty && markerOf(line) === null && !/^ {0,3}(?:#{1,6} |>|```|~~~)/.test(line);
    const isInside = indentOf(line) >= Math.min(content, indentOf(lines[at] ?? "") + 2);
    if (!isEmpty && !isInside && !goesOn) break;
    end += 1;
    if (!isEmpty) last = end;
  }
  // Empty lines behind the last item of a list are not the item's; before another item they are.
  return markerOf(lines[end] ?? "") !== null ? end : last;
}

function itemOf(first: string, rest: readonly string[], depth: number): ListItem {
  const task = /^\[([ xX])\] /.exec(first);
  const blocks = blocksIn([task === null ? first : first.slice(4), ...rest], depth + 1);
  return { done: task === null ? null : task[1] !== " ", blocks };
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function unindented(line: string, most: number): string {
  return line.slice(Math.min(indentOf(line), most));
}
