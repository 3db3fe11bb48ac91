/** The tokens of every request as a curve, and what happened as marks on it, in pixels. Pure. */

export interface RequestFacts {
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
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Room above the highest point. */
const HEADROOM = 1.08;

export interface Curve {
  readonly line: string;
  readonly area: string;
  /** The tokens at the upper edge. */
  readonly most: number;
}

/** Of more requests than pixels, each pixel keeps its highest and its last: no peak and no fall is lost. */
export function curveOf(inputs: readonly number[], size: Size, window: number): Curve {
  const most = Math.max(window, ...chunkMaxima(inputs), 1) * HEADROOM;
  const at = (index: number, tokens: number) =>
    `${round(xOf(index, inputs.length, size))},${round(yOf(tokens, most, size))}`;
  const points = thinned(inputs, size.width).map((index) => at(index, inputs[index]!));
  if (points.length === 0) return { line: "", area: "", most };
  const line = `M${points.join("L")}`;
  const [first, last] = [xOf(0, inputs.length, size), xOf(inputs.length - 1, inputs.length, size)];
  return { line, area: `${line}L${round(last)},${size.height}L${round(first)},${size.height}Z`, most };
}

export function xOf(index: number, count: number, { width }: Pick<Size, "width">): number {
  return count <= 1 ? width / 2 : (index / (count - 1)) * width;
}

export function yOf(tokens: number, most: number, { height }: Pick<Size, "height">): number {
  return height - (tokens / most) * height;
}

/** The windows of the models that answered, as a line for each stretch of one; none where it isn't known. */
export function windowLines(windows: readonly (number | null)[], most: number, size: Size): string {
  const lines: string[] = [];
  for (let from = 0; from < windows.length; ) {
    const window = windows[from]!;
    let to = from;
    while (to + 1 < windows.length && windows[to + 1] === window) to += 1;
    const [left, right] =
      windows.length === 1 ? [0, size.width] : [xOf(from, windows.length, size), xOf(to, windows.length, size)];
    if (window !== null) lines.push(`M${round(left)},${round(yOf(window, most, size))}H${round(right)}`);
    from = to + 1;
  }
  return lines.join("");
}

/** Round figures for the axis, three or four of them, without 0. */
export function axisOf(most: number): readonly number[] {
  const step = [1, 2, 2.5, 5, 10]
    .map((one) => one * 10 ** Math.floor(Math.log10(most / 3)))
    .find((one) => most / one < 4.5)!;
  return Array.from({ length: Math.floor(most / step) }, (_, index) => (index + 1) * step);
}

/** The request that stands at a pixel; -1 where there are none. */
export function indexAt(x: number, count: number, { width }: Pick<Size, "width">): number {
  if (count <= 1) return count - 1;
  return Math.min(Math.max(Math.round((x / Math.max(width, 1)) * (count - 1)), 0), count - 1);
}

/** The first request that was answered at a record or after it; behind the last: the last. */
export function requestFrom(seqs: readonly number[], seq: number): number {
  let [low, high] = [0, seqs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (seqs[middle]! < seq) low = middle + 1;
    else high = middle;
  }
  return Math.min(low, seqs.length - 1);
}

function thinned(inputs: readonly number[], width: number): readonly number[] {
  const per = inputs.length / Math.max(width, 1);
  if (per <= 2) return inputs.map((_, index) => index);
  const kept = new Set<number>([0]);
  for (let pixel = 0; pixel < width; pixel += 1) {
    const [from, to] = [Math.floor(pixel * per), Math.min(Math.floor((pixel + 1) * per), inputs.length)];
    let highest = from;
    for (let index = from; index < to; index += 1) if (inputs[index]! > inputs[highest]!) highest = index;
    kept.add(highest);
    if (to > from) kept.add(to - 1);
  }
  return [...kept].toSorted((a, b) => a - b);
}

/** A call can't take a hundred thousand arguments. */
function chunkMaxima(values: readonly number[]): readonly number[] {
  const maxima: number[] = [];
  for (let from = 0; from < values.length; from += 10_000) maxima.push(Math.max(...values.slice(from, from + 10_000)));
  return maxima;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
