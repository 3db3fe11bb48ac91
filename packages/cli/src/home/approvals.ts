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

/** The call with all of its arguments: nobody should allow what they haven't seen. */
export function askedText({ name, input, reason = null }: AskedCall): string {
  const fields = typeof input === "object" && input !== null ? Object.entries(input) : [];
  const lines = fields.flatMap(([key, value]) => argumentLines(key, value));
  return [`The agent wants to run ${name}${reason === null ? "" : ` (${reason})`}:`, ...lines].join("\n");
}

function argumentLines(key: string, value: unknown): readonly string[] {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const [first = "", ...others] = text.split("\n");
  const lines = [`  ${key}: ${first}`, ...others.map((line) => `    ${line}`)];
  const left = lines.length - HEAD - TAIL;
  if (left <= 0) return lines;
  return [
    ...lines.slice(0, HEAD),
    `    ... (${left} ${left === 1 ? "line" : "lines"} not shown)`,
    ...lines.slice(-TAIL),
  ];
}

const HEAD = 60;
const TAIL = 20;

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
