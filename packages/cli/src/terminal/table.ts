import { printable } from "./terminal-text.ts";

/** Rows in aligned columns; the last one is not padded. Control characters in the data can't reach the terminal. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column]!))).join("  "),
    )
    .map((line) => line.trimEnd())
    .join("\n");
}
