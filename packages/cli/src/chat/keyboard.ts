/** Where a chat's lines come from. Here: a pipe, one prompt a line; `terminal-input.ts` is a person's. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { Phase } from "./input.ts";
import { mentionedPaths } from "./line-editor.ts";
import { saidText } from "./prompt-rows.ts";

export interface Keyboard {
  /** The next thing said; null at the end. The phase is what the person is waited for in. */
  next(phase?: Phase): Promise<string | null>;
  /** The files that the last line mentions, apart from pasted text. */
  mentions(): readonly string[];
  /** Puts this into the line, to be changed and said. */
  fill(text: string): void;
  /** What was queued and will not be said. */
  unsaid(): readonly string[];
  close(): Promise<void>;
}

/** `echo` is told each line, so that what comes out reads as a conversation. A line that ends in a backslash goes on in the next. */
export function openPipe(echo: (line: string) => Promise<void>): Keyboard {
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const next = queueOf(lines);
  let last = "";
  return {
    async next() {
      const parts: string[] = [];
      for (let line = await next(); ; line = await next()) {
        if (line === null && parts.length === 0) return null;
        parts.push(line?.replace(/\\$/, "") ?? "");
        if (line?.endsWith("\\")) continue;
        const text = (line === null ? parts.slice(0, -1) : parts).join("\n");
        if (text.trim() !== "") await echo(saidText(text));
        last = text;
        return text;
      }
    },
    mentions: () => mentionedPaths(last),
    fill: () => {},
    unsaid: () => [],
    close: async () => lines.close(),
  };
}

/** Lines that come while an answer does wait for their turn. */
function queueOf(lines: Interface): () => Promise<string | null> {
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

/* Keys as the editor knows them, from what Node reads at a terminal; what is pasted comes as one. */

export type Key =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "paste"; readonly text: string }
  /** `left`, `ctrl-a`, `alt-b`, `enter`, `newline`: a modifier and a name. */
  | { readonly kind: "named"; readonly name: string };

/** What `emitKeypressEvents` of `node:readline` gives. */
export interface RawKey {
  readonly sequence?: string | undefined;
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

/** Given each key in turn; null while there is nothing to tell. */
export function keyReader(): (raw: RawKey) => Key | null {
  let pasted: string | null = null;
  return (raw) => {
    if (raw.name === "paste-start") pasted = "";
    else if (raw.name === "paste-end") {
      const text = pasted ?? "";
      pasted = null;
      return { kind: "paste", text };
    } else if (pasted === null) return keyOf(raw);
    else pasted += raw.sequence ?? "";
    return null;
  };
}

/**
 * A key that was pressed before the terminal was in raw mode: until then the system hands Enter on as a newline, and
 * nothing else makes one.
 */
export function earlyKey(key: Key): Key {
  return key.kind === "named" && key.name === "newline" ? { kind: "named", name: "enter" } : key;
}

function keyOf({ sequence = "", name, ctrl, meta }: RawKey): Key | null {
  if (sequence === "\u001f") return { kind: "named", name: "ctrl-_" };
  // Ctrl-J, and what terminals send for Shift-Enter when they tell it apart.
  if (name === "enter" || (name === "return" && meta)) return { kind: "named", name: "newline" };
  if (name === "return") return { kind: "named", name: "enter" };
  if (name === "escape") return { kind: "named", name };
  const plain = !ctrl && !meta && !/\p{Cc}/u.test(sequence);
  if (plain && sequence !== "") return { kind: "text", text: sequence };
  if (name === undefined || name === "undefined") return null;
  return { kind: "named", name: `${ctrl ? "ctrl-" : ""}${meta ? "alt-" : ""}${name}` };
}

/* Ctrl-X Ctrl-E: the line in the editor that the person has set, and what they made of it. */

/** As it was when the editor fails, as vi's `:cq` does. */
export async function editText(text: string): Promise<string> {
  const { VISUAL, EDITOR } = process.env;
  const editor = VISUAL || EDITOR || "vi";
  const folder = await mkdtemp(join(tmpdir(), "palimpsest-edit-"));
  const file = join(folder, "message.md");
  try {
    await writeFile(file, text === "" ? "" : `${text}\n`, { mode: 0o600 });
    // The variable may hold options, as in "code --wait".
    const child = spawn(`${editor} "${file}"`, { shell: true, stdio: "inherit" });
    const [code] = await once(child, "exit");
    if (code === 127) throw new Error(`The editor "${editor}" was not found: set VISUAL or EDITOR to one.`);
    return code === 0 ? (await readFile(file, "utf8")).trimEnd() : text;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
