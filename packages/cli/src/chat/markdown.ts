/**
 * Light styling of streamed markdown, word by word: headings, bold, emphasis, code, links, lists, quotes and tables, as far
 * as a terminal can show them, and lines broken between words. Held back is only what isn't finished: a word, a link, a table.
 */

import { columns, padded, plain, printable, rowsOf } from "../terminal/output.ts";
import { wrapped } from "./wording.ts";

export interface MarkdownOptions {
  readonly color: boolean;
  /** Columns to break lines at; null leaves the text as it is, made printable. */
  readonly width: (() => number) | null;
}

export interface Markdown {
  /** What can be shown now. */
  push(piece: string): string;
  /** The rest. */
  end(): string;
}

export function createMarkdown({ color, width }: MarkdownOptions): Markdown {
  if (width === null) return { push: plain, end: () => "" };
  const writer = new MarkdownWriter(color, width);
  return {
    push: (piece) => [...piece].map((char) => writer.take(char)).join(""),
    end: () => writer.end(),
  };
}

const STYLES = { bold: [1, 22], emphasis: [3, 23], link: [4, 24], code: [36, 39] } as const;
type Style = keyof typeof STYLES;

/** Inside a line: where a link's words and emphasis begin and end. Private characters, so that no text has them. */
const MARKS: Readonly<Record<string, Style>> = { "\ue000": "link", "\ue001": "emphasis" };

class MarkdownWriter {
  readonly #color: boolean;
  readonly #width: () => number;
  #held = "";
  /** Spaces since the last word. */
  #spaces = "";
  #column = 0;
  #indent = "";
  #lineStart = true;
  #fenced = false;
  /** The lines of a table so far; its last one may be unfinished. */
  #table: string[] = [];
  readonly #on = new Set<Style>();

  constructor(color: boolean, width: () => number) {
    this.#color = color;
    this.#width = width;
  }

  take(char: string): string {
    const before = this.#lineStart && this.#held === "" && this.#spaces === "";
    if (this.#table.length > 0 && (!before || char === "|")) return this.#tableTakes(char, before);
    if (before && char === "|" && !this.#fenced) return this.#tableTakes(char, true);
    const table = this.#tableEnds();
    if (char === "\n") return table + this.#newLine();
    if (char !== " " || (this.#held !== "" && isOpen(this.#held) && !this.#isCode())) {
      this.#held += char;
      return table;
    }
    const painted = this.#word();
    this.#spaces += " ";
    return table + painted;
  }

  end(): string {
    return this.#tableEnds() + this.#word() + this.#reset();
  }

  /** The lines of a table are kept until a line comes that isn't part of it. */
  #tableTakes(char: string, starts: boolean): string {
    if (starts) this.#table.push("");
    this.#lineStart = char === "\n";
    if (char !== "\n") this.#table[this.#table.length - 1] += char;
    return "";
  }

  #tableEnds(): string {
    if (this.#table.length === 0) return "";
    const lines = this.#table.map(printable);
    const ended = this.#lineStart;
    this.#table = [];
    this.#lineStart = true;
    const drawn = drawTable(lines, { color: this.#color, width: this.#width() });
    return ended ? drawn : drawn.replace(/\n$/, "");
  }

  /** The word that is held, styled, after the spaces or the line break it needs. */
  #word(): string {
    const word = printable(this.#held);
    this.#held = "";
    if (word === "") return "";
    const first = this.#lineStart;
    this.#lineStart = false;
    if (first && word.startsWith("```")) {
      this.#fenced = !this.#fenced;
      this.#indent = "```";
      return "";
    }
    // What stands behind a fence names a language.
    if (this.#indent === "```") return "";
    if (this.#fenced) return this.#place(this.#painted(word, "code"), columns(word), first ? CODE_INDENT : "");
    const started = first ? this.#begin(word) : null;
    if (started !== null) return started;
    const pieces = this.#isCode() ? [word] : withMarks(word).split(" ");
    return pieces.map((piece, index) => this.#inline(piece, index > 0 ? " " : this.#spaces)).join("");
  }

  /** Ends what is still styled: a mark that was never closed must not run on. */
  #reset(): string {
    const styled = this.#on.size > 0;
    this.#on.clear();
    return styled && this.#color ? "\u001b[22;23;24;39m" : "";
  }

  #newLine(): string {
    const shown = this.#word() + this.#reset();
    const fence = this.#indent === "```";
    this.#spaces = "";
    this.#column = 0;
    this.#indent = "";
    this.#lineStart = true;
    return fence ? shown : `${shown}\n`;
  }

  /** What the first word of a line makes of it; null when it is a word like any other. */
  #begin(word: string): string | null {
    if (/^#{1,6}$/.test(word)) {
      this.#on.add("bold");
      this.#spaces = "";
      this.#indent = "#";
      return this.#color ? "\u001b[1m" : "";
    }
    const numbered = /^\d{1,9}[.)]$/.test(word);
    const mark = word === "-" || word === "*" || word === "+" ? "•" : word === ">" ? "│" : numbered ? word : null;
    if (mark === null) return null;
    this.#indent = `${this.#spaces}${mark === "│" ? "│ " : " ".repeat(mark.length + 1)}`;
    return this.#place(mark, mark.length);
  }

  #place(text: string, size: number, before = ""): string {
    const heading = this.#indent === "#";
    const spaces = before + (this.#column === 0 && heading ? "" : this.#spaces);
    this.#spaces = "";
    const breaks = !this.#fenced && this.#column > 0 && this.#column + spaces.length + size > this.#width();
    const indent = heading ? "" : this.#indent;
    this.#column = breaks ? indent.length + size : this.#column + spaces.length + size;
    return breaks ? `\n${indent}${text}` : spaces + text;
  }

  /** Marks inside a word switch their style on and off and take no room. */
  #inline(word: string, spaces: string): string {
    this.#spaces = spaces;
    let output = "";
    const text = word.replaceAll(/\*\*|`|[\ue000\ue001]|[^*`\ue000\ue001]+|\*/g, (piece) => {
      const style = piece === "`" ? "code" : piece === "**" && !this.#isCode() ? "bold" : MARKS[piece];
      if (style !== undefined) return this.#switch(style);
      output += piece;
      return piece;
    });
    return this.#place(text, columns(output));
  }

  #isCode(): boolean {
    return this.#on.has("code") || this.#fenced;
  }

  #switch(style: Style): string {
    if (!this.#on.delete(style)) this.#on.add(style);
    return this.#color ? `\u001b[${STYLES[style][this.#on.has(style) ? 0 : 1]}m` : "";
  }

  #painted(text: string, style: Style): string {
    return this.#color ? `\u001b[${STYLES[style][0]}m${text}\u001b[${STYLES[style][1]}m` : text;
  }
}

const CODE_INDENT = "  ";
/** A mark that isn't closed by then is no mark. */
const LONGEST_SPAN = 200;

/** A link or an emphasis has begun and goes on behind the space. */
function isOpen(text: string): boolean {
  if (text.length > LONGEST_SPAN || text.includes("`")) return false;
  const bracket = text.lastIndexOf("[");
  const close = bracket === -1 ? 0 : text.indexOf("]", bracket);
  if (close === -1 || (bracket !== -1 && text[close + 1] === "(" && text.indexOf(")", close) === -1)) return true;
  return emphasisEnd(text) === -1;
}

/** Where the emphasis that the word begins with ends; -1: not yet; 0: there is none. */
function emphasisEnd(word: string): number {
  const mark = word[0];
  if ((mark !== "*" && mark !== "_") || word.length < 2 || word[1] === mark || word[1] === " ") return 0;
  return word.indexOf(mark, 1);
}

/** `[words](address)` as words and address, emphasis without its stars. What isn't closed stays as it is. */
function withMarks(word: string): string {
  if (word.includes("`")) return word;
  const end = emphasisEnd(word);
  if (end > 1) return `\ue001${word.slice(1, end)}\ue001${withLinks(word.slice(end + 1))}`;
  return withLinks(word);
}

function withLinks(word: string): string {
  const middle = word.indexOf("](");
  const start = word.lastIndexOf("[", middle);
  const end = word.indexOf(")", middle);
  if (middle === -1 || start === -1 || end === -1) return word;
  const [text, address] = [word.slice(start + 1, middle), word.slice(middle + 2, end)];
  const named = text === "" || text === address ? `\ue000${address}\ue000` : `\ue000${text}\ue000 (${address})`;
  return `${word.slice(0, start)}${named}${withLinks(word.slice(end + 1))}`;
}

/* A table of markdown as aligned columns that fit the terminal; cells that don't are broken into lines. Pure. */

interface TableOptions {
  readonly color: boolean;
  readonly width: number;
}

/** The lines as they came, if they are no table or have more columns than there is room for. */
function drawTable(lines: readonly string[], { color, width }: TableOptions): string {
  const [head, rule, ...body] = lines.map(cellsOf);
  const raw = lines.map((line) => `${line}\n`).join("");
  if (head === undefined || rule === undefined || !rule.every((cell) => /^:?-+:?$/.test(cell))) return raw;
  const rows = [head, ...body].map((row) => head.map((_, column) => row[column] ?? ""));
  const room = width - GAP.length * (head.length - 1);
  if (room < head.length * NARROWEST) return raw;
  const widths = fitting(
    head.map((_, column) => Math.max(1, ...rows.map((row) => columns(row[column]!)))),
    room,
  );
  const [first, ...others] = rows.map((row) => drawRow(row, widths));
  const title = color ? first!.replaceAll(/[^\n]+/g, "\u001b[1m$&\u001b[22m") : first!;
  const line = widths.map((size) => "─".repeat(size)).join(GAP);
  return [title, line, ...others].map((row) => `${row}\n`).join("");
}

const GAP = "  ";
const NARROWEST = 4;

/** Bold and code marks take no room and say nothing here. */
function cellsOf(line: string): string[] {
  const inner = line.trim().replaceAll("\\|", "\u00a6").replaceAll("**", "").replaceAll("`", "");
  const cells = inner.split("|").map((cell) => cell.trim().replaceAll("\u00a6", "|"));
  return cells.slice(inner.startsWith("|") ? 1 : 0, inner.endsWith("|") ? -1 : undefined);
}

/** The widest give way first. */
function fitting(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  for (let over = widths.reduce((sum, size) => sum + size, 0) - room; over > 0; over -= 1)
    widths[widths.indexOf(Math.max(...widths))]! -= 1;
  return widths;
}

function drawRow(cells: readonly string[], widths: readonly number[]): string {
  const blocks = cells.map((cell, column) =>
    wrapped(cell, widths[column]!).flatMap((line) => rowsOf(line, widths[column]!)),
  );
  const height = Math.max(...blocks.map((block) => block.length));
  const lines = Array.from({ length: height }, (_, at) =>
    blocks.map((block, column) => padded(block[at] ?? "", widths[column]!)).join(GAP),
  );
  return lines.map((line) => line.trimEnd()).join("\n");
}
