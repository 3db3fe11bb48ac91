/**
 * The interpreter expands at most 10,000 items of one range and drops the rest without a word. Here a long range is
 * written as several short ones, so that `{1..20000}` is what it says. Inside the text of an `eval`, where this can't
 * reach, a long range is refused.
 */
import type { TransformPlugin } from "just-bash";
import { ToolFailure } from "./tool-failure.ts";

const MOST = 10_000;

export const longRanges: TransformPlugin = {
  name: "long-ranges",
  transform({ ast }) {
    visit(ast);
    return { ast };
  },
};

interface BraceRange {
  readonly type: "Range";
  readonly start: string | number;
  readonly end: string | number;
  readonly step?: number;
}

function visit(node: unknown): void {
  if (Array.isArray(node)) return void node.forEach(visit);
  if (typeof node !== "object" || node === null) return;
  if (isBrace(node)) node.items = node.items.flatMap<unknown>((item) => (isRange(item) ? split(item) : [item]));
  if (isEval(node)) assertShort(JSON.stringify(node));
  Object.values(node).forEach(visit);
}

function split(range: BraceRange): readonly BraceRange[] {
  const { start, end } = range;
  if (typeof start !== "number" || typeof end !== "number") return [range];
  const step = (Math.abs(range.step ?? 1) || 1) * (end < start ? -1 : 1);
  const steps = Math.floor((end - start) / step);
  if (steps < MOST) return [range];
  if (steps >= MOST_IN_ALL) throw tooLong(`{${start}..${end}}`);
  return Array.from({ length: Math.ceil((steps + 1) / MOST) }, (_, index) => {
    const from = start + index * MOST * step;
    return { ...range, start: from, end: start + Math.min(steps, (index + 1) * MOST - 1) * step };
  });
}

/** What the interpreter takes in one command. */
const MOST_IN_ALL = 100_000;

function assertShort(text: string): void {
  for (const [range, start, end] of text.matchAll(/\{(-?\d{1,15})\.\.(-?\d{1,15})[.}]/g)) {
    if (Math.abs(Number(end) - Number(start)) < MOST) continue;
    throw tooLong(`${range.slice(0, -1)}} inside eval`);
  }
}

function tooLong(what: string): ToolFailure {
  return new ToolFailure(`${what} is too long to be expanded: use seq`);
}

function isBrace(node: object): node is { items: unknown[] } {
  return "type" in node && node.type === "BraceExpansion" && "items" in node && Array.isArray(node.items);
}

function isRange(item: unknown): item is BraceRange {
  return typeof item === "object" && item !== null && "type" in item && item.type === "Range";
}

function isEval(node: object): boolean {
  return (
    "name" in node && "type" in node && node.type === "SimpleCommand" && JSON.stringify(node.name).includes('"eval"')
  );
}
