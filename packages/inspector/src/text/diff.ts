/** Two lists, and what of the first is gone, what of the second is new: the shortest such list of steps. Pure. */

export interface DiffStep<T> {
  readonly kind: "same" | "gone" | "new";
  readonly value: T;
}

/** Beyond so many differences the middle is told as gone and new, without looking for what both share. */
const MOST_STEPS = 1500;

export function diff<T>(
  before: readonly T[],
  after: readonly T[],
  keyOf: (value: T) => string = String,
): DiffStep<T>[] {
  const [a, b] = [before.map(keyOf), after.map(keyOf)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const step = (kind: DiffStep<T>["kind"]) => (value: T) => ({ kind, value });
  return [
    ...after.slice(0, start).map(step("same")),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end), keyOf),
    ...after.slice(after.length - end).map(step("same")),
  ];
}

/** Myers' algorithm: the furthest that so many steps reach on each diagonal, then the way back. */
function middle<T>(before: readonly T[], after: readonly T[], keyOf: (value: T) => string): DiffStep<T>[] {
  const [a, b] = [before.map(keyOf), after.map(keyOf)];
  const furthest: Map<number, number>[] = [];
  let reached = new Map<number, number>([[1, 0]]);
  for (let steps = 0; steps <= Math.min(a.length + b.length, MOST_STEPS); steps += 1) {
    furthest.push(new Map(reached));
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      let x = isDown(reached, diagonal, steps) ? reached.get(diagonal + 1)! : reached.get(diagonal - 1)! + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1;
      reached.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) return wayBack(before, after, furthest);
    }
    reached = new Map(reached);
  }
  return [
    ...before.map((value): DiffStep<T> => ({ kind: "gone", value })),
    ...after.map((value): DiffStep<T> => ({ kind: "new", value })),
  ];
}

function isDown(reached: ReadonlyMap<number, number>, diagonal: number, steps: number): boolean {
  const [left, right] = [reached.get(diagonal - 1) ?? -1, reached.get(diagonal + 1) ?? -1];
  return diagonal === -steps || (diagonal !== steps && left < right);
}

function wayBack<T>(
  before: readonly T[],
  after: readonly T[],
  furthest: readonly ReadonlyMap<number, number>[],
): DiffStep<T>[] {
  const steps: DiffStep<T>[] = [];
  let [x, y] = [before.length, after.length];
  for (let count = furthest.length - 1; count >= 0; count -= 1) {
    const reached = furthest[count]!;
    const diagonal = x - y;
    const from = isDown(reached, diagonal, count) ? diagonal + 1 : diagonal - 1;
    const fromX = count === 0 ? 0 : reached.get(from)!;
    const fromY = count === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      steps.push({ kind: "same", value: after[y]! });
    }
    if (count === 0) break;
    if (x > fromX) steps.push({ kind: "gone", value: before[fromX]! });
    else steps.push({ kind: "new", value: after[fromY]! });
    [x, y] = [fromX, fromY];
  }
  return steps.reverse();
}
