/** What filled the requests, kind upon kind: at which of them that is asked for, and the areas that come of it. Pure. */
import { type CurveSize, round, xOf, yOf } from "./curve.ts";
import type { ChartStretch } from "./stretch.ts";

/** From the foot of the chart up: what stays from request to request stands lowest. */
export const KINDS = [
  { name: "tools", color: "definitions", parts: ["definitions"] },
  { name: "system", color: "system", parts: ["base", "instructions", "system", "skills", "unseen"] },
  { name: "memory", color: "memory", parts: ["memory"] },
  { name: "summary", color: "summary", parts: ["summary"] },
  { name: "rules", color: "pinned", parts: ["rules"] },
  { name: "evidence", color: "evidence", parts: ["evidence"] },
  { name: "images", color: "images", parts: ["images"] },
  { name: "tool results", color: "tool", parts: ["tool"] },
  { name: "user", color: "user", parts: ["user"] },
  { name: "assistant", color: "assistant", parts: ["assistant"] },
] as const;

/** As many as one question may ask about. */
const MOST = 64;

/**
 * Requests to ask about: those on both sides of what made the prompt smaller, since nothing between two samples is seen, and
 * others at even distances.
 */
export function sampled({ first, last }: ChartStretch, falls: readonly number[]): readonly number[] {
  const inside = falls.flatMap((index) => [index - 1, index]).filter((index) => index >= first && index <= last);
  const chosen = new Set([first, last, ...inside.slice(0, MOST / 2)]);
  const count = Math.min(last - first, MOST - chosen.size);
  for (let step = 1; step < count; step += 1) chosen.add(Math.round(first + ((last - first) * step) / count));
  return [...chosen].toSorted((a, b) => a - b);
}

export interface KindSample {
  readonly index: number;
  /** As the provider counted the whole. */
  readonly input: number;
  readonly parts: Readonly<Record<string, number>>;
}

export interface KindArea {
  readonly name: string;
  readonly color: string;
  readonly path: string;
}

/** Of a single request, in pixels. */
const BAR = 56;

/**
 * The parts are our own count: each is drawn with its share of what was reported. Kinds that never were are left out. Where
 * nothing is known beside the messages, what was reported far beyond them counts as the system prompt.
 */
export function stackOf(
  samples: readonly KindSample[],
  { first, last }: ChartStretch,
  most: number,
  size: CurveSize,
): readonly KindArea[] {
  // A curve of one request has no width: it is a bar.
  const shifts = samples.length === 1 ? [-BAR / 2, BAR / 2] : [0];
  const columns = samples.flatMap((sample) =>
    shifts.map((shift) => ({ x: xOf(sample.index, first, last, size) + shift, heights: heightsOf(sample) })),
  );
  const at = (x: number, tokens: number) => `${round(x)},${round(yOf(tokens, most, size))}`;
  return KINDS.flatMap(({ name, color }, kind) => {
    const upper = columns.map(({ x, heights }) => at(x, heights[kind + 1] ?? 0));
    const lower = columns.map(({ x, heights }) => at(x, heights[kind] ?? 0)).toReversed();
    const isAny = columns.some(({ heights }) => (heights[kind + 1] ?? 0) > (heights[kind] ?? 0));
    return isAny ? [{ name, color, path: `M${upper.join("L")}L${lower.join("L")}Z` }] : [];
  });
}

/** Where each kind begins, and at the end the whole. */
function heightsOf({ input, parts }: KindSample): readonly number[] {
  const names = new Set(KINDS.flatMap((kind) => kind.parts as readonly string[]));
  const others = Object.keys(parts).filter((part) => !names.has(part) && part !== "reserved");
  const sums = KINDS.map(({ name, parts: own }) =>
    [...own, ...(name === "system" ? others : [])].reduce((sum, part) => sum + Math.max(0, parts[part] ?? 0), 0),
  );
  const known = sums.reduce((sum, one) => sum + one, 0);
  const [tools = 0, system = 0] = sums;
  const beyond = tools + system === 0 && input - known > input * BEYOND_SHARE ? input - known : 0;
  sums[1] = system + beyond;
  const whole = known + beyond;
  const heights = [0];
  for (const sum of sums) heights.push((heights.at(-1) ?? 0) + (whole === 0 ? 0 : (sum / whole) * input));
  return heights;
}

/** Counters differ by less. */
const BEYOND_SHARE = 0.25;
