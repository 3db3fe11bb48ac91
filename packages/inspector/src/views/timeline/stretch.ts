/** The stretch of requests that a chart shows, by their numbers: zoomed, moved, and told in an address. Pure. */

export interface ChartStretch {
  readonly first: number;
  /** The last one in it. */
  readonly last: number;
}

/** Fewer have no shape. */
const FEWEST = 4;

export function wholeStretch(count: number): ChartStretch {
  return { first: 0, last: Math.max(0, count - 1) };
}

/** `times`: 2 shows half as many. `around` stays where it is on the chart, as far as there is something beside it. */
export function zoomed(stretch: ChartStretch, times: number, around: number, count: number): ChartStretch {
  const width = stretch.last - stretch.first;
  const next = Math.min(Math.max(Math.round(width / times), Math.min(FEWEST, count) - 1), count - 1);
  const share = width === 0 ? 0.5 : (around - stretch.first) / width;
  return movedTo(Math.round(around - share * next), next, count);
}

/** Moved so that a request is in it. */
export function showing(stretch: ChartStretch, index: number, count: number): ChartStretch {
  const width = stretch.last - stretch.first;
  if (index < stretch.first) return movedTo(index, width, count);
  return index > stretch.last ? movedTo(index - width, width, count) : stretch;
}

/** Moved so that a request is in its middle, as far as there is something beside it. */
export function centered({ first, last }: ChartStretch, index: number, count: number): ChartStretch {
  return movedTo(index - Math.round((last - first) / 2), last - first, count);
}

export function between(one: number, other: number, count: number): ChartStretch {
  const [first, last] = one < other ? [one, other] : [other, one];
  return last - first + 1 < FEWEST ? zoomed({ first, last }, 1, first, count) : { first, last };
}

export function isWhole({ first, last }: ChartStretch, count: number): boolean {
  return first === 0 && last === Math.max(0, count - 1);
}

function movedTo(first: number, width: number, count: number): ChartStretch {
  const start = Math.min(Math.max(first, 0), Math.max(0, count - 1 - width));
  return { first: start, last: Math.min(start + width, count - 1) };
}

/** The records of two requests, as an address has them: `12-88`. */
export function stretchText({ first, last }: ChartStretch, seqs: readonly number[]): string {
  return `${seqs[first]}-${seqs[last]}`;
}

/** Null: that is no stretch. */
export function stretchOf(
  text: string | undefined,
  indexOf: (seq: number) => number,
  count: number,
): ChartStretch | null {
  const [, from, until] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? "") ?? [];
  if (from === undefined || until === undefined || count === 0) return null;
  return between(indexOf(Number(from)), indexOf(Number(until)), count);
}
