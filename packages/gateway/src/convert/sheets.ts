/** An Excel file as Markdown: each sheet with its name and a table of its values. */
import { MOST_COLUMNS, MOST_ROWS, tableLines } from "./table.ts";
import { assertUnpacks } from "./zip.ts";

export async function sheetsMarkdown(bytes: Buffer): Promise<Iterable<string>> {
  assertUnpacks(bytes);
  const { readXlsx } = await import("hucre/xlsx");
  // One row more tells whether there are more.
  const { sheets } = await readXlsx(bytes, { range: `A1:${lastColumn()}${MOST_ROWS + 1}` });
  return written(sheets);
}

interface Sheet {
  readonly name: string;
  readonly rows: readonly (readonly unknown[])[];
}

function* written(sheets: readonly Sheet[]): Generator<string> {
  for (const { name, rows } of sheets) {
    yield `\n\n## ${name.replaceAll(/\s+/g, " ")}\n\n`;
    yield* tableLines(rows.map((row) => row.map(valueText)));
  }
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : dateText(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A date without a time of day stands alone. */
function dateText(date: Date): string {
  return date.toISOString().replace(/T00:00:00\.000Z$|\.000Z$/, "");
}

/** `GR` for 200. */
function lastColumn(): string {
  const index = MOST_COLUMNS - 1;
  return String.fromCharCode(64 + Math.floor(index / 26), 65 + (index % 26));
}
