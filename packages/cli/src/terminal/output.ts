/**
 * Where a command prints: data on stdout, everything said to the person on stderr. Whatever is printed is first made safe
 * for a terminal, wherever its words came from; only what this program styled itself goes out as it is. Writes wait for
 * the reader, so that a thread of any size can be printed in constant memory, and a reader that goes away (`| head`) ends
 * the program quietly.
 */
import type { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { ThreadCost } from "palimpsest/home";
import type { CopyProgress } from "palimpsest/session";

export interface Output {
  readonly color: boolean;
  /** Text for stdout. Await it when printing much. */
  write(text: string): Promise<void>;
  /** Text for stdout exactly as given, styles included: what others wrote must have been made safe before it got its style. */
  styled(text: string): Promise<void>;
  line(text: string): Promise<void>;
  /** Many small pieces in few large writes; stops between two of them when `signal` says so. */
  stream(pieces: AsyncIterable<string>, options: StreamOptions): Promise<void>;
  /** The one JSON document of `--json`. */
  json(value: unknown): Promise<void>;
  /** A line for the person, on stderr. */
  note(text: string): void;
  /** A line for the person that, at a terminal, makes room for whatever is printed next. */
  progress(text: string): void;
}

interface StreamOptions {
  readonly signal: AbortSignal;
  /** `exact`: JSON that goes to another program byte for byte; at a terminal it is made safe as `json` is. */
  readonly as: "text" | "json" | "exact";
}

export interface OutputOptions {
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onClosed: () => void;
}

export function createOutput({ stdout, stderr, env, onClosed }: OutputOptions): Output {
  // What fails otherwise, such as a full disk, rejects the write itself.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isClosed(error)) onClosed();
  });
  // The reader has left.
  stderr.on("error", () => {});
  let passing = "";
  const clear = () => {
    if (passing !== "") stderr.write(passing);
    passing = "";
  };
  const styled = (text: string) => {
    clear();
    return new Promise<void>((resolve, reject) => {
      stdout.write(text, (error) => (error && !isClosed(error) ? reject(error) : resolve()));
    });
  };
  return {
    color: stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb",
    write: (text) => styled(plain(text)),
    styled,
    line: (text) => styled(`${plain(text)}\n`),
    stream: (pieces, { signal, as }) => {
      const safe = as === "text" ? plain : as === "json" || stdout.isTTY === true ? safeJson : null;
      return writeAll(pieces, (text) => styled(safe?.(text) ?? text), signal);
    },
    json: (value) => styled(`${safeJson(JSON.stringify(value, null, 2))}\n`),
    note: (text) => {
      clear();
      stderr.write(`${plain(text)}\n`);
    },
    progress: (text) => {
      clear();
      stderr.write(stderr.isTTY ? printable(text) : `${plain(text)}\n`);
      if (stderr.isTTY) passing = "\r\u001b[K";
    },
  };
}

/** The reader has gone away. */
function isClosed(error: NodeJS.ErrnoException): boolean {
  return error.code === "EPIPE";
}

const CHUNK = 65_536;

async function writeAll(pieces: AsyncIterable<string>, write: Output["write"], signal: AbortSignal): Promise<void> {
  let rest = "";
  for await (const piece of pieces) {
    signal.throwIfAborted();
    rest += piece;
    if (rest.length < CHUNK) continue;
    await write(rest);
    rest = "";
  }
  await write(rest);
}

/* Progress of long work: at a terminal soon and often, elsewhere only when it takes long. */

export function throttled<A extends readonly unknown[]>(
  { progress }: Pick<Output, "progress">,
  text: (...told: A) => string,
): (...told: A) => void {
  let last = Date.now();
  return (...told) => {
    const now = Date.now();
    if (now - last < (process.stderr.isTTY ? 200 : 5000)) return;
    last = now;
    progress(text(...told));
  };
}

/* What is told while threads and memories are copied from one store to another. */

export function copyProgress(output: Output): (progress: CopyProgress) => void {
  return throttled(output, (progress: CopyProgress) =>
    "memories" in progress
      ? `${progress.memories} memories`
      : `${progress.threadId}: ${progress.records} of ${progress.of} records`,
  );
}

/* Makes foreign text safe to print: it must not move the cursor, hide text or change the terminal. Joiners of letters and emoji stay. */

/** Control characters (C0 and C1), Unicode line ends, characters that reverse text, and zero-width characters. */
const STEERING = /[\p{Cc}\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff]/gu;

/** For one line. */
export function printable(text: string): string {
  return text.replace(STEERING, (char) => (char === "\t" ? " " : "\ufffd"));
}

/** For any number of lines. */
export function plain(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(STEERING, (char) => (char === "\n" || char === "\t" ? char : "\ufffd"));
}

/** The same JSON, whose strings show these characters as escapes; `JSON.stringify` does it for the first set alone. */
export function safeJson(json: string): string {
  return json.replace(STEERING, (char) =>
    /[\t\n\r]/.test(char) ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/* How much room text takes at a terminal: wide letters and emoji two columns, marks and colors none. Pure. */

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** What a person sees as one character. */
export function graphemes(text: string): string[] {
  return ASCII.test(text) ? text.split("") : Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

/** Color codes have no width. */
export function columns(text: string): number {
  const visible = text.includes(ESCAPE) ? stripVTControlCharacters(text) : text;
  return ASCII.test(visible) ? visible.length : graphemes(visible).reduce((sum, one) => sum + width(one), 0);
}

/** Cuts one line into rows of the given width, also inside words; colors continue in the next row. */
export function rowsOf(text: string, room: number): string[] {
  if (columns(text) <= room) return [text];
  const rows = [""];
  let used = 0;
  for (const piece of text.split(STYLE)) {
    if (piece.startsWith(ESCAPE)) {
      rows[rows.length - 1] += piece;
      continue;
    }
    for (const one of graphemes(piece)) {
      const size = width(one);
      if (used + size > room && used > 0) {
        rows.push("");
        used = 0;
      }
      rows[rows.length - 1] += one;
      used += size;
    }
  }
  return rows;
}

/** At most so many columns, the last of them an ellipsis if something was left out. For text without colors. */
export function clipColumns(text: string, room: number): string {
  if (columns(text) <= room) return text;
  return `${rowsOf(text, Math.max(1, room - 1))[0]}…`;
}

export function padded(text: string, room: number): string {
  return text + " ".repeat(Math.max(0, room - columns(text)));
}

const ESCAPE = "\u001b";
const STYLE = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`);
// Only printable characters have a width.
const ASCII = /^[ -~]*$/;
const NO_ROOM = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}|\ufe0f/u;

function width(grapheme: string): number {
  if (NO_ROOM.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

/** Numbers as people read them: 501,458. */
export function grouped(value: number): string {
  return value.toLocaleString("en-US");
}

/** "1 thread", "2,000 threads". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** How long something took, as a person says it. */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** "0.3 MB": for a person to compare. */
export function megabytes(bytes: number): string {
  const size = bytes / (1 << 20);
  return `${size < 10 ? size.toFixed(1) : Math.round(size).toLocaleString("en-US")} MB`;
}

/** An instant as a person's own clock has it, to the minute: "2026-03-01 09:30". */
export function localTime(iso: string): string {
  const at = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/* Amounts as people read them: small ones keep two figures that say something. */

/** In US dollars, as every price is. */
export function money(amount: number): string {
  const size = Math.abs(amount);
  const digits = size === 0 || size >= 0.1 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(size)));
  return `${amount < 0 ? "-" : ""}$${size.toFixed(digits)}`;
}

/** "spent $0.0123 (of it $0.0021 for summaries); saved $0.0041 by the cache, $0.0007 by pruning". */
export function costLine({ spent, spentOn, savedByCache, savedByPruning, unpriced }: ThreadCost): string {
  const uses = Object.entries(WORDS).flatMap(([use, word]) => {
    const part = spentOn[use as keyof typeof WORDS];
    return part === 0 ? [] : [`${money(part)} for ${word}`];
  });
  const of = uses.length === 0 ? "" : ` (of it ${uses.join(", ")})`;
  const parts = [
    ...(savedByCache === 0 ? [] : [`${money(savedByCache)} by the cache`]),
    ...(savedByPruning === 0 ? [] : [`${money(savedByPruning)} by pruning`]),
  ];
  const saved = parts.length === 0 ? "" : `; saved ${parts.join(", ")}`;
  const without = unpriced.length === 0 ? "" : ` (without ${unpriced.join(", ")}, whose price is not known)`;
  return `spent ${money(spent)}${of}${saved}${without}`;
}

/** Beside the answers themselves. */
const WORDS = { subagents: "sub-agents", summaries: "summaries", memory: "memory", embeddings: "embeddings" };

/* Questions to a person at a terminal. */

export function canAsk(format: "json" | "text"): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && format === "text";
}

export function ask(question: string, signal: AbortSignal): Promise<string> {
  return askSeveral(signal, (answer) => answer(question));
}

/** One keyboard for all questions: what is typed or pasted ahead answers the next one. */
export async function askSeveral<T>(
  signal: AbortSignal,
  work: (answer: (question: string) => Promise<string>) => Promise<T>,
): Promise<T> {
  const { createInterface } = await import("node:readline");
  const keyboard = createInterface({ input: process.stdin, output: process.stdout });
  const lines = keyboard[Symbol.asyncIterator]();
  const close = () => keyboard.close();
  signal.addEventListener("abort", close);
  try {
    return await work(async (question) => {
      keyboard.setPrompt(question);
      keyboard.prompt();
      const line = await lines.next();
      // Ctrl-C and Ctrl-D close the keyboard.
      if (line.done === true) throw new DOMException("no answer", "AbortError");
      return line.value;
    });
  } finally {
    signal.removeEventListener("abort", close);
    keyboard.close();
  }
}

export function isYes(answer: string): boolean {
  return /^\s*y(?:es)?\s*$/i.test(answer);
}
