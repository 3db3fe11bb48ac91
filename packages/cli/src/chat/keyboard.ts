/**
 * Where a chat's lines come from: a person at a terminal, with editing, history and completion, or a pipe, one prompt a
 * line. A line that ends in a backslash goes on in the next.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { PASTE_OFF, PASTE_ON, pasteFilter, withLineBreaks } from "./paste.ts";

export interface Keyboard {
  /** The next thing said; null at the end. */
  next(): Promise<string | null>;
  close(): Promise<void>;
}

export interface TerminalOptions {
  readonly home: string;
  readonly complete: (line: string) => [string[], string];
  readonly onInterrupt: () => void;
}

const PROMPT = "> ";
const MORE = ". ";
const KEPT_LINES = 500;

export async function openTerminal({ home, complete, onInterrupt }: TerminalOptions): Promise<Keyboard> {
  const { stdin, stdout } = process;
  const file = join(home, "chat-history");
  const filter = Object.assign(pasteFilter(), {
    isTTY: true,
    setRawMode: (mode: boolean) => stdin.setRawMode(mode),
  });
  stdin.setEncoding("utf8").pipe(filter);
  const lines = createInterface({
    input: filter,
    output: stdout,
    terminal: true,
    completer: complete,
    history: await readHistory(file),
    historySize: KEPT_LINES,
    removeHistoryDuplicates: true,
  });
  let history: readonly string[] = [];
  lines.on("history", (kept) => {
    history = [...kept];
  });
  lines.on("SIGINT", onInterrupt);
  stdout.write(PASTE_ON);
  const queue = queueOf(lines);
  return {
    next: () => whole(queue, (prompt) => ask(lines, prompt)),
    async close() {
      stdout.write(PASTE_OFF);
      lines.close();
      stdin.unpipe(filter).pause();
      // Only a convenience: a history that can't be kept is no reason to fail.
      if (history.length > 0)
        await writeFile(file, `${history.toReversed().join("\n")}\n`, { mode: 0o600 }).catch(() => {});
    },
  };
}

/** `echo` is told each line, so that what comes out reads as a conversation. */
export function openPipe(echo: (line: string) => Promise<void>): Keyboard {
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const queue = queueOf(lines);
  return {
    async next() {
      const said = await whole(queue, () => {});
      if (said !== null && said.trim() !== "") await echo(`${PROMPT}${said.replaceAll("\n", `\n${MORE}`)}`);
      return said;
    },
    close: async () => lines.close(),
  };
}

async function whole(queue: Queue, ask: (prompt: string) => void): Promise<string | null> {
  const parts: string[] = [];
  for (;;) {
    ask(parts.length === 0 ? PROMPT : MORE);
    const line = await queue();
    if (line === null) return parts.length === 0 ? null : parts.join("\n");
    if (!line.endsWith("\\")) return [...parts, withLineBreaks(line)].join("\n");
    parts.push(withLineBreaks(line.slice(0, -1)));
  }
}

function ask(lines: Interface, prompt: string): void {
  lines.setPrompt(prompt);
  lines.prompt();
}

type Queue = () => Promise<string | null>;

/** Lines typed while an answer comes wait for their turn. */
function queueOf(lines: Interface): Queue {
  const waiting: string[] = [];
  let closed = false;
  let wake: (() => void) | null = null;
  lines.on("line", (line) => {
    waiting.push(line);
    wake?.();
  });
  lines.on("close", () => {
    closed = true;
    wake?.();
  });
  return async () => {
    while (waiting.length === 0 && !closed)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return waiting.shift() ?? null;
  };
}

/** Readline wants the newest first; the file has it last. */
async function readHistory(file: string): Promise<string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .toReversed()
    .slice(0, KEPT_LINES);
}
