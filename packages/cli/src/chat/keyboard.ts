/** Where a chat's lines come from. Here: a pipe, one prompt a line; `terminal-input.ts` is a person's. */
import { createInterface, type Interface } from "node:readline";
import type { Phase } from "./input.ts";
import { mentionedPaths } from "./mentions.ts";
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
