/**
 * What a bench is, and the little statistics all of them share. A bench takes its data as path arguments, returns plain
 * figures (shares are fractions of 1) and throws `BenchInputError` with one clear line when its input is missing.
 */
import { readFileSync } from "node:fs";

export type BenchOptions = Readonly<Record<string, string | true>>;

export type Bench = (args: readonly string[], options: BenchOptions) => Promise<object>;

export class BenchInputError extends Error {
  override readonly name = "BenchInputError";
}

/** The text of a data file named on the command line. */
export function readData(path: string | undefined, usage: string): string {
  if (path === undefined) throw new BenchInputError(`This bench needs a data file: npm run bench -- ${usage}`);
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "unreadable";
    throw new BenchInputError(`Cannot read the data file ${path} (${code}); give the path of a file that exists.`);
  }
}

/**
 * The same figures on `--held-out FILE[,FILE]`: data not used for tuning. Null where none is given; the page then says so.
 */
export async function onHeldOut<T>(
  options: BenchOptions,
  measure: (paths: readonly string[]) => Promise<T>,
): Promise<T | null> {
  const given = options["held-out"];
  if (given === true) throw new BenchInputError("--held-out: name a data file of the same kind, not used for tuning.");
  return given === undefined ? null : measure(given.split(","));
}

/** The value below which `share` of the values lie (nearest rank); 0 for none. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]!;
}

export { remembering } from "@palimpsest/lab/internal/eval";
