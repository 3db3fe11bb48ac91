/**
 * Light styling of streamed markdown, word by word: headings, bold, emphasis, code, links, lists, quotes and tables, as far
 * as a terminal can show them, and lines broken between words. Held back is only what isn't finished: a word, a link, a table.
 */
import { plain, printable } from "../terminal/terminal-text.ts";
import { columns } from "../terminal/text-width.ts";
import { drawTable } from "./markdown-table.ts";

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
  const writer = new Writer(color, width);
  return {
    push: (piece) => [...piece].map((char) => writer.take(char)).join(""),
    end: () => writer.end(),
  };
}

const STYLES = { bold: [1, 22], emphasis: [3, 23], link: [4, 24], code: [36, 39] } as const;
type Style = keyof typeof STYLES;

/** Inside a line: where a link's words and emphasis begin and end. Private characters, so that no text has them. */
const MARKS: Readonly<Record<string, Style>> = { "\ue000": "link", "\ue001": "emphasis" };

class Writer {
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

  /** The lines of a table are kept until one comes that is none. */
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
