/** What the page is made of, and how figures are written on it. */
export interface Subject {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  /** What its data was to us: tuned on, held out, generated. */
  readonly data: string;
  rows(figures: never): readonly Row[];
}

/** One number in each cell. */
export interface Row {
  readonly what: string;
  /** What is measured, where a subject measures several things of the same. */
  readonly measure?: string;
  readonly ours: string;
  readonly theirs?: string;
  readonly ratio?: string;
}

/** A row for each measure of one thing. */
export function byMeasure(what: string, measures: Readonly<Record<string, Omit<Row, "what" | "measure">>>): Row[] {
  return Object.entries(measures).map(([measure, cells]) => ({ what, measure, ...cells }));
}

/** Rounded down: what is less than all of it is never written as 100 %. */
export function percent(share: number, digits = 1): string {
  const unit = 10 ** digits;
  // A share that was computed may lie a hair below what it means.
  return `${(Math.floor(share * 100 * unit + 1e-9) / unit).toFixed(digits)} %`;
}

/** Errors and costs are rounded up, so that they are never written smaller than they were. */
export function percentUp(share: number, digits = 1): string {
  const unit = 10 ** digits;
  return `${(Math.ceil(share * 100 * unit - 1e-9) / unit).toFixed(digits)} %`;
}

/** What was measured on data not used for tuning; null where none was given. */
export interface HeldOut<F> {
  readonly heldOut?: F | null;
}

/** The rows of a subject, and once more for the data held out. */
export function withHeldOut<F>(figures: F & HeldOut<F>, rows: (figures: F) => readonly Row[]): readonly Row[] {
  const { heldOut = null } = figures;
  const others =
    heldOut === null
      ? [{ what: "held out: not given here (`--held-out FILE`)", ours: "" }]
      : rows(heldOut).map((row) => ({ ...row, what: `held out: ${row.what}` }));
  return [...rows(figures), ...others];
}

export function ms(value: number): string {
  return value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

export function bytes(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} MB`;
  return `${(value / 1e3).toFixed(1)} kB`;
}

/** Rounded down, so that a ratio never says more than was measured. */
export function times(value: number): string {
  return `${value >= 10 ? Math.floor(value) : (Math.floor(value * 100) / 100).toFixed(2)}x`;
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
