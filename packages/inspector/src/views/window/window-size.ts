/** Sizes of a window to try: which there are, and where a drag or a key leads. Pure. */

export interface SizeRange {
  readonly least: number;
  /** At the right end of the bar. */
  readonly most: number;
}

const LEAST = 500;

/** `whole`: what the bar's whole width stands for. */
export function tryRange(window: number, whole: number): SizeRange {
  return { least: Math.min(LEAST, window), most: Math.max(window, Math.ceil(whole), LEAST) };
}

export function sizeAt(share: number, range: SizeRange): number {
  return within(rounded(share * range.most), range);
}

/** Null: the key moves nothing. */
export function sizeAfter(key: string, size: number, range: SizeRange): number | null {
  const to: Readonly<Record<string, number>> = {
    ArrowLeft: size - range.most / 50,
    ArrowDown: size - range.most / 50,
    ArrowRight: size + range.most / 50,
    ArrowUp: size + range.most / 50,
    PageDown: size - range.most / 5,
    PageUp: size + range.most / 5,
    Home: range.least,
    End: range.most,
  };
  const next = to[key];
  return next === undefined ? null : within(key === "End" ? next : rounded(next), range);
}

function within(size: number, { least, most }: SizeRange): number {
  return Math.min(Math.max(size, least), most);
}

/** Rounded to about two figures, as 7,900 rather than 7,913 tokens. */
function rounded(size: number): number {
  const step = 10 ** Math.max(1, Math.floor(Math.log10(Math.max(size, 1))) - 1);
  return Math.round(size / step) * step;
}
