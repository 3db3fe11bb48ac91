/**
 * What the gate lets pass: a figure may be better than the committed one, equal, or worse by its margin at most.
 */
export interface Measured {
  readonly name: string;
  readonly value: number;
  readonly better: "lower" | "higher";
  /** How much worse it may be, in its own unit. */
  readonly margin: number;
}

export interface Judged {
  readonly name: string;
  readonly ours: number;
  /** A new figure has none until `--update`, and doesn't pass. */
  readonly committed: number | null;
  readonly margin: string;
  readonly ok: boolean;
}

export function judge(measured: readonly Measured[], committed: Readonly<Record<string, number>>): Judged[] {
  return measured.map(({ name, value, better, margin }) => {
    const before = committed[name] ?? null;
    const worse = before === null ? Number.POSITIVE_INFINITY : better === "lower" ? value - before : before - value;
    return {
      name,
      ours: value,
      committed: before,
      margin: `${better === "lower" ? "+" : "-"}${margin}`,
      ok: worse <= margin,
    };
  });
}
