/** The line that steers any summary toward what the caller asked for (`focus`, `--focus`). Version 1. */
export function focusLine(focus: string | null | undefined): string {
  const wanted = (focus ?? "").trim();
  return wanted === "" ? "" : `\n\nPay special attention to: ${wanted}`;
}
