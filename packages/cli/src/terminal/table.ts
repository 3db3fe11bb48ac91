import { printable } from "./terminal-text.ts";
import { clipColumns, columns, padded } from "./text-width.ts";

/** Rows in aligned columns; the last one is not padded. Control characters in the data can't reach the terminal. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, at) => Math.max(...all.map((row) => columns(row[at] ?? ""))));
  return all
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : padded(cell, widths[column]!))).join("  "),
    )
    .map((line) => line.trimEnd())
    .join("\n");
}

/** A thread's title in a table: wide letters take two columns, so a title of sixty can take 120. */
export function titleCell(title: string): string {
  return clipColumns(title, MOST_COLUMNS);
}

const MOST_COLUMNS = 60;
