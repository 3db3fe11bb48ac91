/**
 * The lines of an output that say what went wrong, and its exit code. They are what an agent comes back for, so they
 * survive every shortening [F50]. Only reads text; deciding what else stays is the caller's.
 */

const FAILING =
  /\b(?:error|exception|fatal|panic|traceback|failed|failure|failing|cannot|can't|could not|not found|denied|undefined reference|segmentation fault|assert\w*|unhandled|timed? ?out)\b|\b\w+(?:Error|Exception)\b|✗|✖|^\s*not ok\b|\bnpm ERR!/i;
/** "0 errors", "no failures": the same words, the opposite news. */
const ALL_WELL = /\b(?:0|no|zero|without)\s+(?:errors?|failures?|failed|failing|exceptions?|problems?)\b/i;
const EXIT_CODE = /\bexit(?:ed|s)?(?:\s+with)?(?:\s+(?:code|status))?\s*[:=]?\s*(-?\d{1,3})\b/i;

export interface FailingLimits {
  readonly maxLines: number;
  readonly maxLineLength: number;
}

/** The first failing lines and the last one, in order, without repeats. */
export function failingLines(text: string, limits: FailingLimits): readonly string[] {
  const found = new Set<string>();
  for (const line of text.split("\n")) {
    const trimmed = line.trim();
    if (trimmed !== "" && isFailingLine(trimmed)) found.add(shorten(trimmed, limits.maxLineLength));
  }
  const lines = [...found];
  if (lines.length <= limits.maxLines) return lines;
  return [...lines.slice(0, Math.max(0, limits.maxLines - 1)), lines.at(-1)!];
}

export function isFailingLine(line: string): boolean {
  return FAILING.test(line) && !ALL_WELL.test(line);
}

export function exitCode(text: string): number | null {
  const match = EXIT_CODE.exec(text);
  return match === null ? null : Number(match[1]);
}

function shorten(line: string, length: number): string {
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}
