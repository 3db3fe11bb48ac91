/**
 * Light styling of streamed markdown, word by word: headings, bold, code, lists and quotes, as far as a terminal can show
 * them, and lines broken between words. Only a word that isn't finished is held back.
 */
import { plain, printable } from "../terminal/terminal-text.ts";

export interface MarkdownOptions {
  readonly color: boolean;
  /** Columns to break lines at; null leaves the text as it is, made printable. */
  readonly width: number | null;
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
    end: () => writer.word() + writer.reset(),
  };
}

class Writer {
  readonly #color: boolean;
  readonly #width: number;
  #held = "";
  /** Spaces since the last word. */
  #spaces = "";
  #column = 0;
  #indent = "";
  #lineStart = true;
  #fenced = false;
  readonly #on = { bold: false, code: false };

  constructor(color: boolean, width: number) {
    this.#color = color;
    this.#width = width;
  }

  take(char: string): string {
    if (char === "\n") return this.#newLine();
    if (char !== " ") {
      this.#held += char;
      return "";
    }
    const shown = this.word();
    this.#spaces += " ";
    return shown;
  }

  /** The word that is held, styled, after the spaces or the line break it needs. */
  word(): string {
    const word = printable(this.#held);
    this.#held = "";
    if (word === "") return "";
    const first = this.#lineStart;
    this.#lineStart = false;
    const fence = first && word.startsWith("```");
    if (fence) this.#fenced = !this.#fenced;
    const started = first && !this.#fenced ? this.#begin(word) : null;
    if (started !== null) return started;
    return fence || this.#fenced
      ? this.#place(this.#painted(word, 36, 39), word.length)
      : this.#place(...this.#inline(word));
  }

  /** Ends what is still bold or code: a mark that was never closed must not run on. */
  reset(): string {
    const styled = this.#on.bold || this.#on.code;
    this.#on.bold = false;
    this.#on.code = false;
    return styled && this.#color ? "\u001b[22;39m" : "";
  }

  #newLine(): string {
    const shown = this.word() + this.reset();
    this.#spaces = "";
    this.#column = 0;
    this.#indent = "";
    this.#lineStart = true;
    return `${shown}\n`;
  }

  /** What the first word of a line makes of it; null when it is a word like any other. */
  #begin(word: string): string | null {
    if (/^#{1,6}$/.test(word)) {
      this.#on.bold = true;
      this.#lineStart = false;
      return this.#color ? "\u001b[1m" : "";
    }
    const mark = word === "-" || word === "*" ? "•" : word === ">" ? "|" : null;
    if (mark === null) return null;
    this.#indent = `${this.#spaces}  `;
    return this.#place(mark, 1);
  }

  #place(text: string, columns: number): string {
    const spaces = this.#column === 0 && this.#on.bold ? "" : this.#spaces;
    this.#spaces = "";
    const breaks = !this.#fenced && this.#column > 0 && this.#column + spaces.length + columns > this.#width;
    this.#column = breaks ? this.#indent.length + columns : this.#column + spaces.length + columns;
    return breaks ? `\n${this.#indent}${text}` : spaces + text;
  }

  /** Bold and code marks inside a word switch their style on and off and take no room. */
  #inline(word: string): [string, number] {
    let columns = 0;
    const text = word.replaceAll(/\*\*|`|[^*`]+|\*/g, (piece) => {
      if (piece === "`") return this.#switch("code", 36, 39);
      if (piece === "**" && !this.#on.code) return this.#switch("bold", 1, 22);
      columns += piece.length;
      return piece;
    });
    return [text, columns];
  }

  #switch(style: "bold" | "code", start: number, end: number): string {
    this.#on[style] = !this.#on[style];
    return this.#color ? `\u001b[${this.#on[style] ? start : end}m` : "";
  }

  #painted(text: string, start: number, end: number): string {
    return this.#color ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  }
}
