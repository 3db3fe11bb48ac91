/**
 * The lab's report as one self-contained page: a table, knowledge against tokens, cost, the context's size over time, and
 * what the words mean. No script, no network; light and dark by the reader's preference; readable on a telephone.
 */

import { escaped, markup } from "./drawn.ts";
import type { LabReport, LabRow } from "./lab.ts";
import { areas, bars, letterOf, PARTS, scatter } from "./report-plots.ts";
import { count, number, reportTable, wordsOf } from "./report-table.ts";

/** How the page was made, for later readers. */
export interface PageAbout {
  readonly date: Date;
  readonly command: string;
  readonly versions: string;
}

export function renderReport(report: LabReport, about?: PageAbout): string {
  const { policies, window, transcripts } = report;
  const messages = transcripts.reduce((sum, one) => sum + one.messages, 0);
  const repairs = transcripts.reduce((sum, one) => sum + one.repairs, 0);
  const repaired = repairs === 0 ? "" : `; ${count(repairs, "message")} repaired before playing`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Palimpsest lab</title>
<style>${STYLE}</style>
<h1>Policies side by side</h1>
<p>${count(transcripts.length, "transcript")}, ${count(messages, "message")}, a window of ${number(window)} tokens${repaired}.</p>
${table(policies)}
<div class="plots">
${knowledge(policies)}
<figure><figcaption>Cost, as a share of never pruning</figcaption>${markup(bars(policies))}</figure>
</div>
<p class="key">${policies.map(({ name }, index) => `<span><b>${letterOf(index)}</b> ${escaped(name)}</span>`).join(" ")}</p>
<h2>Size of the context over time</h2>
<p class="key">${PARTS.map((part) => `<span class="${part}">${part}</span>`).join(" ")}</p>
<p>The longest transcript: tokens of each request, message by message. The dashed line is the window.</p>
<div class="plots">
${policies.map((row, index) => `<figure><figcaption><b>${letterOf(index)}</b> ${escaped(row.name)}</figcaption>${markup(areas(row, policies, window))}</figure>`).join("\n")}
</div>
<h2>What the words mean</h2>
<dl>${wordsOf(report)
    .map(([word, meaning]) => `<dt>${word}</dt><dd>${escaped(meaning)}</dd>`)
    .join("\n")}</dl>
<h2>How it was made</h2>
<dl>${made(report, about)
    .map(([what, value]) => `<dt>${what}</dt><dd>${escaped(value)}</dd>`)
    .join("\n")}</dl>
</html>
`;
}

function knowledge(rows: readonly LabRow[]): string {
  if (rows.every(({ known }) => known === null))
    return "<p>Nothing from long before was used again in these transcripts: what each policy still knows can't be compared.</p>";
  return `<figure><figcaption>Knowledge against tokens: up and to the left is better</figcaption>${markup(scatter(rows))}</figure>`;
}

function table(rows: readonly LabRow[]): string {
  const { titles, lines } = reportTable(rows);
  const head = ["policy", ...titles].map((title) => `<th>${title}</th>`).join("");
  const body = lines.map(({ letter, name, cells }) => {
    const shown = cells.map(
      ({ title, text, isBest }) => `<td data-title="${title}"${isBest ? ' class="best"' : ""}>${text}</td>`,
    );
    return `<tr><td><b>${letter}</b> ${escaped(name)}</td>${shown.join("")}</tr>`;
  });
  return `<table><thead><tr>${head}</tr></thead><tbody>${body.join("")}</tbody></table>`;
}

function made({ transcripts, window }: LabReport, about: PageAbout | undefined): (readonly [string, string])[] {
  const names = transcripts.map(({ name }) => name);
  const more = names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : "";
  return [
    ...(about === undefined
      ? []
      : ([
          ["date", about.date.toISOString().slice(0, 16).replace("T", " ")],
          ["command", about.command],
          ["versions", about.versions],
        ] as const)),
    ["transcripts", names.slice(0, MOST_NAMES).join(", ") + more],
    ["window", `${number(window)} tokens`],
  ];
}

const MOST_NAMES = 12;

export const STYLE = `
:root { color-scheme: light dark; --ink: #1d1f24; --paper: #fcfcfa; --faint: #d9d9d4; --ours: #c2410c; --dot: #64748b;
  --fixed: #94a3b8; --summary: #c2410c; --user: #0f766e; --assistant: #4f6bb8; --tool: #b8a24f; --window: #b91c1c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e7e2; --paper: #17181b; --faint: #3a3b40; --ours: #fb923c; --dot: #94a3b8;
  --fixed: #64748b; --summary: #fb923c; --user: #2dd4bf; --assistant: #8ba4f0; --tool: #d8c46a; --window: #f87171; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: 12.5px; width: 100%; }
th, td { text-align: right; padding: .3rem .4rem; border-bottom: 1px solid var(--faint); }
th:first-child, td:first-child { text-align: left; }
.best { font-weight: 700; color: var(--ours); }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 330px), 1fr)); gap: 1rem 1.5rem; margin: 1rem 0; }
figure { margin: 0; max-width: 560px; } figcaption { font-size: 14px; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: var(--ink); paint-order: stroke; stroke: var(--paper); stroke-width: 3px; } svg line { stroke: var(--faint); }
svg .letter { font-weight: 700; text-anchor: middle; font-size: 12px; } svg .lead { stroke: var(--dot); stroke-width: .7; }
svg .window { stroke: var(--window); stroke-dasharray: 5 3; stroke-width: 1.3; }
.ours { fill: var(--ours); } .dot { fill: var(--dot); }
.key span { white-space: nowrap; margin-right: .8rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; } dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  table, tbody, tr, td { display: block; } thead { display: none; } tr { padding: .4rem 0; border-bottom: 1px solid var(--faint); }
  td { border: 0; padding: .05rem 0; display: flex; justify-content: space-between; } td:first-child { font-size: 14px; justify-content: start; gap: .4rem; }
  td[data-title]::before { content: attr(data-title); }
  dl { grid-template-columns: 1fr; } dd { margin: 0 0 .4rem; }
}
${PARTS.map((part) => `polygon.${part} { fill: var(--${part}); } .key .${part}::before { content: "■ "; color: var(--${part}); }`).join("\n")}
`;
