/** A table of markdown as aligned columns that fit the terminal; cells that don't are broken into lines. Pure. */
import { columns, padded, rowsOf } from "../terminal/text-width.ts";
import { wrapped } from "./wording.ts";

export interface TableOptions {
  readonly color: boolean;
  readonly width: number;
}

/** The lines as they came, if they are no table or have more columns than there is room for. */
export function drawTable(lines: readonly string[], { color, width }: TableOptions): string {
  const [head, rule, ...body] = lines.map(cellsOf);
  const raw = lines.map((line) => `${line}\n`).join("");
  if (head === undefined || rule === undefined || !rule.every((cell) => /^:?-+:?$/.test(cell))) return raw;
  const rows = [head, ...body].map((row) => head.map((_, column) => row[column] ?? ""));
  const room = width - GAP.length * (head.length - 1);
  if (room < head.length * NARROWEST) return raw;
  const widths = fitting(
    head.map((_, column) => Math.max(1, ...rows.map((row) => columns(row[column]!)))),
    room,
  );
  const [first, ...others] = rows.map((row) => drawRow(row, widths));
  const title = color ? first!.replaceAll(/[^\n]+/g, "\u001b[1m$&\u001b[22m") : first!;
  const line = widths.map((size) => "─".repeat(size)).join(GAP);
  return [title, line, ...others].map((row) => `${row}\n`).join("");
}

const GAP = "  ";
const NARROWEST = 4;

/** Bold and code marks take no room and say nothing here. */
function cellsOf(line: string): string[] {
  const inner = line.trim().replaceAll("\\|", "\u00a6").replaceAll("**", "").replaceAll("`", "");
  const cells = inner.split("|").map((cell) => cell.trim().replaceAll("\u00a6", "|"));
  return cells.slice(inner.startsWith("|") ? 1 : 0, inner.endsWith("|") ? -1 : undefined);
}

/** The widest give way first. */
function fitting(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  for (let over = widths.reduce((sum, size) => sum + size, 0) - room; over > 0; over -= 1)
    widths[widths.indexOf(Math.max(...widths))]! -= 1;
  return widths;
}

function drawRow(cells: readonly string[], widths: readonly number[]): string {
  const blocks = cells.map((cell, column) =>
    wrapped(cell, widths[column]!).flatMap((line) => rowsOf(line, widths[column]!)),
  );
  const height = Math.max(...blocks.map((block) => block.length));
  const lines = Array.from({ length: height }, (_, at) =>
    blocks.map((block, column) => padded(block[at] ?? "", widths[column]!)).join(GAP),
  );
  return lines.map((line) => line.trimEnd()).join("\n");
}
