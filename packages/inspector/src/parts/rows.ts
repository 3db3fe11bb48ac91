/** Which rows of a long list are drawn, for where it is scrolled to. All rows are of one height. Pure. */

export interface Scrolled {
  /** Pixels. */
  readonly top: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly count: number;
}

/** Rows beyond the edges, so that a quick scroll shows no gap. */
const BEYOND = 8;

/** From `first` up to, and without, `end`. */
export function drawnRows({ top, height, rowHeight, count }: Scrolled): {
  readonly first: number;
  readonly end: number;
} {
  const first = Math.floor(Math.max(0, top) / rowHeight) - BEYOND;
  const end = Math.ceil((Math.max(0, top) + height) / rowHeight) + BEYOND;
  return { first: clamp(first, 0, count), end: clamp(end, 0, count) };
}

/** Where to scroll to so that a row is seen whole; where it is already, nowhere. */
export function topShowing(row: number, { top, height, rowHeight }: Omit<Scrolled, "count">): number {
  const [start, end] = [row * rowHeight, (row + 1) * rowHeight];
  if (start < top) return start;
  return end > top + height ? end - height : top;
}

/** The row that a key leads to; null: the key isn't about rows. */
export function rowAfter(key: string, row: number, { count, page }: { readonly count: number; readonly page: number }) {
  const moved = MOVES[key]?.(row, page);
  return moved === undefined || count === 0 ? null : clamp(moved, 0, count - 1);
}

const MOVES: Readonly<Record<string, (row: number, page: number) => number>> = {
  ArrowDown: (row) => row + 1,
  ArrowUp: (row) => row - 1,
  PageDown: (row, page) => row + page,
  PageUp: (row, page) => row - page,
  Home: () => 0,
  End: () => Number.MAX_SAFE_INTEGER,
};

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
