/** The words of a chat's one-line reports: calls, sizes, durations, compactions. */

import type { AgentEvent } from "palimpsest";
import { columns, counted, duration, grouped, printable } from "../terminal/output.ts";

type ShownCompaction = Extract<Extract<AgentEvent, { type: "compaction-end" }>["outcome"], { kind: "compacted" }>;

export function compactionMark(
  { tokensBefore, tokensAfter, rung, ms, hidden, shortfall, shortened }: ShownCompaction,
  { hide, keep }: { readonly hide: number; readonly keep: number },
  width: number,
): string[] {
  const facts = `-- compacted · ${grouped(tokensBefore)} -> ${grouped(tokensAfter)} tokens · ${rung} · ${duration(ms)} `;
  const what =
    hidden === null
      ? shortened === null
        ? "old tool output is shortened"
        : "what is too long is shortened"
      : `${counted(hide, "message")}, up to record ${hidden[1]}, ${hide === 1 ? "is" : "are"} behind a summary; ${keep} ${keep === 1 ? "stays" : "stay"}`;
  return [
    facts + "-".repeat(Math.max(0, Math.min(width, 80) - facts.length)),
    `   ${what} (/undo)`,
    ...(shortened === null ? [] : [`   ${shortenedWords(shortened)}`]),
    ...(shortfall === null ? [] : [`   ${shortfall}`]),
  ];
}

function shortenedWords({ tokens, first, last }: NonNullable<ShownCompaction["shortened"]>): string {
  return (
    `your message was too long for the window; the model sees the first ${grouped(first)} and ` +
    `last ${grouped(last)} of its ${grouped(tokens)} tokens`
  );
}

/** A line that is too long goes on in the next at a word, under its own beginning. */
export function wrapped(text: string, width: number): string[] {
  const indent = /^ */.exec(text)![0];
  const lines: string[] = [];
  let line = "";
  for (const word of text.slice(indent.length).split(" ")) {
    const longer = line === "" ? indent + word : `${line} ${word}`;
    if (line !== "" && columns(longer) > width) {
      lines.push(line);
      line = indent + word;
    } else line = longer;
  }
  return [...lines, line];
}

/** A call's arguments as a person would name it: the first text or number in it. */
export function brief(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const first = Object.values(input).find((value) => typeof value === "string" || typeof value === "number");
  return printable(String(first ?? "").replaceAll(/\s+/g, " "));
}

/** What a call took and gave. A refused call took nothing. */
export function callFacts({ output, isError, denied, ms }: Extract<AgentEvent, { type: "tool-end" }>): string {
  if (denied) return " · not run";
  return ` · ${duration(ms)} · ${bytes(output)}${isError ? " · failed" : ""}`;
}

function bytes(output: unknown): string {
  const text = typeof output === "string" ? output : (JSON.stringify(output) ?? "");
  const size = Buffer.byteLength(text);
  return size < 1000 ? `${size} B` : size < 1e6 ? `${(size / 1000).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}
