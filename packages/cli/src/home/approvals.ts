/** Asking a person about a tool call: what they are shown of it, what their answer means, and what is said when nobody is there. */
import type { RunEnd } from "palimpsest/agent";
import { money } from "./money.ts";

export type Verdict = "yes" | "no" | "always";

/** Null: this is no answer to it. */
export function verdictOf(line: string): Verdict | null {
  const word = line.trim().toLowerCase();
  return VERDICTS.find((one) => word === one || word === one[0]) ?? null;
}

const VERDICTS = ["yes", "no", "always"] as const;

interface AskedCall {
  readonly name: string;
  readonly input: unknown;
  /** Why it is asked, where the agent says so. */
  readonly reason?: string | null;
}

/**
 * The call with all of its arguments: nobody should allow what they haven't seen. Of a long one the beginning and the end
 * are shown, and how much is left out: the end must not hide behind what fills the screen.
 */
export function askedText({ name, input, reason = null }: AskedCall): string {
  const fields = typeof input === "object" && input !== null ? Object.entries(input) : [];
  const shown = fields.slice(0, MOST_ARGUMENTS);
  const lines = shown.flatMap(([key, value]) => argumentLines(key, value));
  const more = fields.length - shown.length;
  return [
    `The agent wants to run ${cut(name, MOST_NAME)}${reason === null ? "" : ` (${reason})`}:`,
    ...lines,
    ...(more > 0 ? [`  ... (${more} more arguments not shown)`] : []),
  ].join("\n");
}

function argumentLines(key: string, value: unknown): readonly string[] {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const lines = `${cut(key, MOST_NAME)}: ${text}`.split("\n");
  const left = lines.length - HEAD.lines - TAIL.lines;
  const ends =
    left <= 0
      ? lines
      : [
          ...lines.slice(0, HEAD.lines),
          `... (${left} ${left === 1 ? "line" : "lines"} not shown)`,
          ...lines.slice(-TAIL.lines),
        ];
  return bothEnds(ends.join("\n"))
    .split("\n")
    .map((line, index) => (index === 0 ? `  ${line}` : `    ${line}`));
}

function bothEnds(text: string): string {
  const left = text.length - HEAD.chars - TAIL.chars;
  if (left <= 0) return text;
  return `${text.slice(0, HEAD.chars)}\n... (${left.toLocaleString("en-US")} characters not shown)\n${text.slice(-TAIL.chars)}`;
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}...`;
}

const HEAD = { lines: 60, chars: 2000 };
const TAIL = { lines: 20, chars: 1000 };
const MOST_ARGUMENTS = 30;
const MOST_NAME = 200;

/** What an end means that isn't an answer and isn't a failure; null where there is nothing to say. */
export function unfinishedNote(end: RunEnd, next: { readonly decide: string; readonly goOn: string }): string | null {
  switch (end.kind) {
    case "approval": {
      const names = [...new Set(end.calls.map(({ name }) => name))].join(" and ");
      return `Not run: ${names}. It needs your approval, and without a terminal nobody can be asked; to decide: ${next.decide}`;
    }
    case "budget": {
      const spent = end.cost === null ? "" : ` (${money(end.cost)})`;
      return `Stopped after ${end.tokens.toLocaleString("en-US")} tokens${spent}: the next call would go beyond limits.run_tokens or limits.run_cost of the configuration; ${next.goOn}.`;
    }
    case "step-limit":
      return `Stopped after ${end.limit} steps without an answer: ${next.goOn}.`;
    default:
      return null;
  }
}
