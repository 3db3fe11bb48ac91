/** The tokens of every request as a curve, and what happened as marks on it, in pixels. Pure. */
import type { ChartStretch } from "./stretch.ts";

export interface RequestPoint {
  /** The record that answered it. */
  readonly seq: number;
  readonly at: string;
  readonly model: string;
  readonly input: number;
  readonly output?: unknown;
  readonly cacheRead?: unknown;
  readonly cacheWrite?: unknown;
  /** Of the model that answered; null: not known. */
  readonly window: number | null;
  /** In US dollars; null: no price is known. */
  readonly cost: number | null;
}

export interface MarkFacts {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly tokensBefore?: unknown;
  readonly tokensAfter?: unknown;
}

export interface CurveSize {
  readonly width: number;
  readonly height: number;
}

/** Room above the highest point. */
const HEADROOM = 1.08;

export interface Curve {
  readonly line: string;
  readonly area: string;
}

/** A window that is larger than the highest request by more than this would press the curve flat: it is only named. */
const NEAR = 3;

/** The tokens at the upper edge. */
export function topOf(requests: readonly RequestPoint[], { first, last }: ChartStretch): number {
  const shown = requests.slice(first, last + 1);
  const highest = shown.reduce((most, { input }) => Math.max(most, input), 1);
  const windows = shown.map(({ window }) => window ?? 0).filter((window) => window <= highest * NEAR);
  return windows.reduce((most, window) => Math.max(most, window), highest) * HEADROOM;
}

/** Of more requests than pixels, each pixel keeps its highest and its last: no peak and no fall is lost. */
export function curveOf(
  inputs: readonly number[],
  { first, last }: ChartStretch,
  most: number,
  size: CurveSize,
): Curve {
  const points = thinned(inputs.slice(first, last + 1), size.width).map((offset) => {
    const index = first + offset;
    return `${round(xOf(index, first, last, size))},${round(yOf(inputs[index] ?? 0, most, size))}`;
  });
  if (points.length === 0) return { line: "", area: "" };
  const line = `M${points.join("L")}`;
  const ends = [xOf(first, first, last, size), xOf(last, first, last, size)].map(round);
  return { line, area: `${line}L${ends[1]},${size.height}L${ends[0]},${size.height}Z` };
}

export function xOf(index: number, first: number, last: number, { width }: Pick<CurveSize, "width">): number {
  return last <= first ? width / 2 : ((index - first) / (last - first)) * width;
}

export function yOf(tokens: number, most: number, { height }: Pick<CurveSize, "height">): number {
  return height - (tokens / most) * height;
}

/** The windows of the models that answered, as a line for each stretch of one; none where it isn't known. */
export function windowLines(
  windows: readonly (number | null)[],
  { first, last }: ChartStretch,
  most: number,
  size: CurveSize,
): string {
  const lines: string[] = [];
  for (let from = first; from <= last; ) {
    const window = windows[from] ?? null;
    let to = from;
    while (to + 1 <= last && windows[to + 1] === window) to += 1;
    const [left, right] = first === last ? [0, size.width] : [xOf(from, first, last, size), xOf(to, first, last, size)];
    if (window !== null && window <= most)
      lines.push(`M${round(left)},${round(yOf(window, most, size))}H${round(right)}`);
    from = to + 1;
  }
  return lines.join("");
}

/** Round figures for the axis, three or four of them, without 0. */
export function axisOf(most: number): readonly number[] {
  const step =
    [1, 2, 2.5, 5, 10].map((one) => one * 10 ** Math.floor(Math.log10(most / 3))).find((one) => most / one < 4.5) ??
    most;
  return Array.from({ length: Math.floor(most / step) }, (_, index) => (index + 1) * step);
}

/** The request that stands at a pixel; -1 where there are none. */
export function indexAt(x: number, { first, last }: ChartStretch, { width }: Pick<CurveSize, "width">): number {
  if (last <= first) return last;
  return Math.min(Math.max(first + Math.round((x / Math.max(width, 1)) * (last - first)), first), last);
}

/** The first request that was answered at a record or after it; behind the last: the last. */
export function requestFrom(seqs: readonly number[], seq: number): number {
  let [low, high] = [0, seqs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((seqs[middle] ?? seq) < seq) low = middle + 1;
    else high = middle;
  }
  return Math.min(low, seqs.length - 1);
}

export interface PlacedMark extends MarkFacts {
  /** The request it led to. */
  readonly index: number;
  /** So many of its kind fall on that pixel. */
  readonly count: number;
}

/** Marks of requests in sight. Of those that fall on one pixel, one of each kind. */
export function placedMarks(
  marks: readonly MarkFacts[],
  seqs: readonly number[],
  { first, last }: ChartStretch,
  size: Pick<CurveSize, "width">,
): readonly PlacedMark[] {
  const placed = new Map<string, PlacedMark>();
  for (const mark of marks) {
    const index = requestFrom(seqs, mark.seq);
    if (index < first || index > last) continue;
    const key = `${mark.kind} ${Math.round(xOf(index, first, last, size))}`;
    placed.set(key, { ...mark, index, count: (placed.get(key)?.count ?? 0) + 1 });
  }
  return [...placed.values()];
}

/** Numbers of requests for the axis below: the first, the last, and others at even distances. */
export function stepsOf({ first, last }: ChartStretch, { width }: Pick<CurveSize, "width">): readonly number[] {
  const count = Math.max(1, Math.min(Math.floor(width / 130), last - first));
  const steps = Array.from({ length: count + 1 }, (_, step) => Math.round(first + ((last - first) * step) / count));
  return [...new Set(steps)];
}

function thinned(inputs: readonly number[], width: number): readonly number[] {
  const per = inputs.length / Math.max(width, 1);
  if (per <= 2) return inputs.map((_, index) => index);
  const kept = new Set<number>([0]);
  for (let pixel = 0; pixel < width; pixel += 1) {
    const [from, to] = [Math.floor(pixel * per), Math.min(Math.floor((pixel + 1) * per), inputs.length)];
    let highest = from;
    for (let index = from; index < to; index += 1) if ((inputs[index] ?? 0) > (inputs[highest] ?? 0)) highest = index;
    kept.add(highest);
    if (to > from) kept.add(to - 1);
  }
  return [...kept].toSorted((a, b) => a - b);
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
