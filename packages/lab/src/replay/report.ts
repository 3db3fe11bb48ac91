/** How the lab's report is shown, for pages in a browser: no file, no node, no dependency. No promise is made about it. */
export type { Drawn } from "./drawn.ts";
export { areas, bars, letterOf, PARTS, type PlottedRow, scatter } from "./report-plots.ts";
export { type ReportTable, reportTable, wordsOf } from "./report-table.ts";
