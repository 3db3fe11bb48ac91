/** What fills a window, as the segments of a bar: in one order, under one color each. Pure. */
import type { AskAnswer } from "../api/ask.ts";
import { grouped, percent } from "../text/format.ts";

export interface BarSegment {
  /** The color's name, which is also the class. */
  readonly part: string;
  readonly label: string;
  readonly tokens: number;
  /** Of the whole bar. */
  readonly share: number;
}

export type ContextFacts = Pick<AskAnswer<"GET /api/threads/{id}/context">, "window" | "total" | "parts" | "groups">;

const ORDER: readonly (readonly [part: string, color: string])[] = [
  ["base", "system"],
  ["instructions", "system"],
  ["system", "system"],
  ["memory", "memory"],
  ["summary", "summary"],
  ["rules", "pinned"],
  ["evidence", "evidence"],
  ["user", "user"],
  ["assistant", "assistant"],
  ["tool", "tool"],
  ["images", "images"],
];

const LABELS: Readonly<Record<string, string>> = { base: "system", tool: "tool results", unseen: "not in the file" };

/** The prompt from the left, then what is free, then the tools' definitions and what is kept for the answer. */
export function segmentsOf({ window, total, parts, groups }: ContextFacts): readonly BarSegment[] {
  const reserved = reservedIn(groups);
  const whole = wholeOf({ window, total, groups });
  const known = new Set([...ORDER.map(([part]) => part), "definitions"]);
  const others = Object.keys(parts).filter((part) => !known.has(part));
  const order = [...ORDER, ...others.map((part) => [part, "system"] as const)];
  const segment = (label: string, color: string, tokens: number): BarSegment[] =>
    tokens <= 0 ? [] : [{ part: color, label, tokens, share: tokens / whole }];
  return [
    ...order.flatMap(([part, color]) => segment(LABELS[part] ?? part, color, parts[part] ?? 0)),
    ...segment("free", "free", whole - total - reserved),
    ...segment("tools", "definitions", parts["definitions"] ?? 0),
    ...segment("answer", "reserved", reserved),
  ];
}

/** The tokens that the whole bar stands for. */
export function wholeOf({ window, total, groups }: Pick<ContextFacts, "window" | "total" | "groups">): number {
  return Math.max(window, total + reservedIn(groups), 1);
}

/** Where the window ends on the bar, as a share of it; null: what is sent and the answer's room fit. */
export function edgeOf({ window, total, groups }: Pick<ContextFacts, "window" | "total" | "groups">): number | null {
  const needed = total + reservedIn(groups);
  return needed <= window ? null : Math.max(window, 0) / needed;
}

/** `1171 %`, and from ten times on how many times: the figure is to be seen, not read. */
export function fullnessWords(total: number, window: number): string {
  const share = total / Math.max(window, 1);
  return share < 10 ? percent(share) : `${grouped(share)} × the window`;
}

function reservedIn(groups: readonly unknown[]): number {
  const parts = groups.map((group) => (group as { readonly parts?: Readonly<Record<string, number>> }).parts ?? {});
  return parts.reduce((sum, one) => sum + (one["reserved"] ?? 0), 0);
}
