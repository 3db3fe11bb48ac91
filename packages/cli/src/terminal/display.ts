/**
 * A terminal with a part that stays at the bottom: what is printed scrolls away above it, and the line that isn't ended
 * yet and the live rows (status, input) are drawn again under it. Everything that reaches the terminal goes through here,
 * so nothing is ever printed over what a person types.
 */
import { columns, rowsOf } from "./output.ts";

export interface LiveRows {
  /** Each at most as wide as it was asked for. */
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

export interface DisplayOptions {
  readonly write: (text: string) => Promise<void>;
  readonly size: () => { readonly width: number; readonly height: number };
  readonly live: (width: number, height: number) => LiveRows;
}

export class Display {
  readonly #write: DisplayOptions["write"];
  readonly #size: DisplayOptions["size"];
  readonly #live: DisplayOptions["live"];
  /** The line that isn't ended yet. */
  #open = "";
  /** The rows above the cursor and its own, as they were drawn. */
  #above: readonly string[] = [];
  #drawn = false;
  /** Another program has the terminal: what is printed meanwhile. */
  #held: string | null = null;
  #planned = false;
  #closed = false;

  constructor({ write, size, live }: DisplayOptions) {
    this.#write = write;
    this.#size = size;
    this.#live = live;
  }

  print(text: string): Promise<void> {
    if (this.#closed) return this.#write(text);
    if (this.#held !== null) {
      this.#held += text;
      return Promise.resolve();
    }
    const whole = this.#open + text;
    const end = whole.lastIndexOf("\n") + 1;
    this.#open = whole.slice(end);
    return this.#draw(whole.slice(0, end));
  }

  /** Lines of their own, above a line that is still being written. */
  above(text: string): Promise<void> {
    if (this.#closed) return this.#write(`${text}\n`);
    if (this.#held === null) return this.#draw(`${text}\n`);
    this.#held += `${text}\n`;
    return Promise.resolve();
  }

  /** Soon, once for any number of keys. */
  redraw(): void {
    if (this.#planned || this.#closed || this.#held !== null) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      if (this.#drawn && !this.#closed && this.#held === null) void this.#draw("");
    });
  }

  /** An empty screen, in one piece: another program may get the terminal next. */
  async clear(): Promise<void> {
    if (this.#held !== null) return;
    this.#above = [];
    this.#drawn = false;
    await this.#draw("\u001b[2J\u001b[H");
  }

  /** Without the live rows from now on; what is printed later goes straight to the terminal. */
  async close(): Promise<void> {
    await this.suspend();
    this.#closed = true;
    await this.#write(this.#held ?? "");
    this.#held = null;
  }

  /** Leaves the terminal to another program. */
  async suspend(): Promise<void> {
    if (this.#held !== null) return;
    this.#held = "";
    await this.#write(this.#erase() + (this.#open === "" ? "" : `${this.#open}\n`));
    this.#open = "";
    this.#drawn = false;
    this.#above = [];
  }

  async resume(): Promise<void> {
    const held = this.#held ?? "";
    this.#held = null;
    await this.print(held);
  }

  async #draw(text: string): Promise<void> {
    const { width, height } = this.#size();
    const { rows, cursor } = this.#live(width, height);
    const open = this.#open === "" ? [] : rowsOf(this.#open, width).slice(-Math.max(1, height - rows.length - 1));
    const drawn = [...open.map((row) => row + RESET), ...rows];
    const at = open.length + cursor.row;
    const below = drawn.length - 1 - at;
    const erase = this.#erase();
    this.#above = drawn.slice(0, at + 1);
    this.#drawn = true;
    const back = `${below > 0 ? `\u001b[${below}A` : ""}\r${cursor.column > 0 ? `\u001b[${cursor.column}C` : ""}`;
    await this.#write(`${BEGIN}${erase}${text}${drawn.join("\n")}${back}${END}`);
  }

  /** From wherever the cursor is to the first row of what was drawn; a narrower terminal has broken its rows. */
  #erase(): string {
    if (!this.#drawn) return "";
    const { width } = this.#size();
    const higher = this.#above.slice(0, -1).reduce((sum, row) => sum + Math.max(1, Math.ceil(columns(row) / width)), 0);
    return `\r${higher > 0 ? `\u001b[${higher}A` : ""}\u001b[J`;
  }
}

const RESET = "\u001b[0m";
/** A terminal that knows it shows all of it at once; others ignore it. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";
