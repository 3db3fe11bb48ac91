/** Rows as a Markdown table, within bounds, whatever the rows hold. */

export const MOST_ROWS = 5000;
export const MOST_COLUMNS = 200;

/** Only the head is padded to the widest row: padding them all would make much of little. */
export function* tableLines(rows: readonly (readonly string[])[]): Generator<string> {
  const width = Math.min(
    MOST_COLUMNS,
    rows.reduce((most, row) => Math.max(most, row.length), 0),
  );
  if (width === 0) return;
  const [head = [], ...rest] = rows;
  yield line(Array.from({ length: width }, (_, index) => head[index] ?? ""));
  yield `|${" --- |".repeat(width)}\n`;
  for (const row of rest.slice(0, MOST_ROWS - 1)) yield line(row.slice(0, MOST_COLUMNS));
  if (rows.length > MOST_ROWS) yield `\n(only the first ${MOST_ROWS} rows)\n`;
}

function line(row: readonly string[]): string {
  return `| ${row.map(cell).join(" | ")} |\n`;
}

/** On one line. As long as a cell of Excel can be. */
function cell(text: string): string {
  return text.slice(0, MOST_CELL).trim().replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
}

const MOST_CELL = 32_767;
