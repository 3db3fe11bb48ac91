/**
 * The lab's report as one self-contained page: a table, the context's size over time by part, cost, and knowledge against
 * tokens. No script, no network; light and dark by the reader's preference.
 */
import type { LabReport, LabRow } from "./lab.ts";
import type { Moment, MomentPart } from "./simulate.ts";

const PARTS: readonly MomentPart[] = ["fixed", "summary", "user", "assistant", "tool"];

export function labPage(report: LabReport): string {
  const { policies, window, transcripts } = report;
  const messages = transcripts.reduce((sum, one) => sum + one.messages, 0);
  const repairs = transcripts.reduce((sum, one) => sum + one.repairs, 0);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Palimpsest lab</title>
<style>${STYLE}</style>
<h1>Policies side by side</h1>
<p>${count(transcripts.length, "transcript")}, ${count(messages, "message")}, a window of ${number(window)} tokens${
    repairs === 0 ? "" : `; ${count(repairs, "message")} repaired before playing`
  }. Cost is a share of never pruning, with the provider's prompt cache priced in; known is the share of distant uses still in
the prompt.${questionsNote(report)}</p>
${table(policies)}
<h2>Knowledge against tokens</h2>
${scatter(policies)}
<h2>Cost</h2>
${bars(policies)}
<h2>Size of the context over time</h2>
<p class="key">${PARTS.map((part) => `<span class="${part}">${part}</span>`).join(" ")}</p>
${policies.map((row) => `<figure><figcaption>${escaped(row.name)}</figcaption>${areas(row, policies)}</figure>`).join("\n")}
</html>
`;
}

function questionsNote({ transcripts, hits }: LabReport): string {
  const questions = transcripts.reduce((sum, one) => sum + one.questions, 0);
  if (questions === 0) return "";
  return ` Evidence is the share of what ${count(questions, "question")} of the files ask for that the last prompt holds word for word;
with recall, or that a search for the question finds among its first ${count(hits, "hit")}.`;
}

function table(rows: readonly LabRow[]): string {
  const asked = rows.some(({ evidence }) => evidence !== null);
  const head = [
    "policy",
    "cost",
    "known",
    "with recall",
    ...(asked ? ["evidence", "evidence with recall"] : []),
    "tokens sent",
    "cache reuse",
    "compactions",
    "waits",
    "rereads",
    "violations",
    "over window",
  ];
  const body = rows.map((row) => [
    escaped(row.name),
    percent(row.cost),
    percent(row.known),
    percent(row.knownWithRecall),
    ...(asked ? [percent(row.evidence ?? 0), percent(row.evidenceWithRecall ?? 0)] : []),
    number(row.tokens),
    percent(row.reuse),
    ...[row.compactions, row.waits, row.rereads, row.violations, row.overWindow].map(number),
  ]);
  const line = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
  return `<table>${line(head, "th")}${body.map((cells) => line(cells, "td")).join("")}</table>`;
}

const WIDTH = 720;
const HEIGHT = 240;
const LEFT = 64;
const BOTTOM = 28;

function scatter(rows: readonly LabRow[]): string {
  const most = Math.max(1, ...rows.map(({ tokens }) => tokens));
  const least = Math.min(...rows.map(({ known }) => known), 0.99);
  const x = (tokens: number): number => LEFT + ((WIDTH - LEFT - 160) * tokens) / most;
  const y = (known: number): number => 12 + ((HEIGHT - BOTTOM - 12) * (1 - known)) / (1 - least);
  const labels = apart(rows.map(({ tokens, known }) => ({ x: x(tokens), y: y(known) })));
  const dots = rows.map(({ name, tokens, known }, index) => {
    const at = `cx="${x(tokens).toFixed(1)}" cy="${y(known).toFixed(1)}"`;
    const mark = name === "ours" ? "ours" : "dot";
    const hint = `${escaped(name)}: ${percent(known)}, ${number(tokens)} tokens`;
    const label = `<text x="${(x(tokens) + 9).toFixed(1)}" y="${(labels[index]! + 4).toFixed(1)}">${escaped(name)}</text>`;
    return `<circle ${at} r="5" class="${mark}"><title>${hint}</title></circle>${label}`;
  });
  const marks = [1, (1 + least) / 2, least].map(
    (at) =>
      `<text x="4" y="${y(at) + 4}">${percent(at)}</text><line x1="${LEFT}" x2="${WIDTH}" y1="${y(at)}" y2="${y(at)}"/>`,
  );
  return svg(HEIGHT, [
    ...marks,
    ...dots,
    `<text x="${LEFT}" y="${HEIGHT - 6}">0</text><text x="${WIDTH - 160}" y="${HEIGHT - 6}">${number(most)} tokens sent</text>`,
  ]);
}

/** Where labels stand so that neighbours don't cover each other: from the top down, each below those it would touch. */
function apart(points: readonly { readonly x: number; readonly y: number }[]): number[] {
  const placed: { x: number; y: number }[] = [];
  const heights = new Map<object, number>();
  for (const point of points.toSorted((a, b) => a.y - b.y)) {
    let at = point.y;
    for (const other of placed) if (Math.abs(other.x - point.x) < 230 && at - other.y < 12) at = other.y + 12;
    placed.push({ x: point.x, y: at });
    heights.set(point, at);
  }
  return points.map((point) => heights.get(point)!);
}

function bars(rows: readonly LabRow[]): string {
  const most = Math.max(1, ...rows.map(({ cost }) => cost));
  const height = rows.length * 24 + 4;
  const shown = rows.map(({ name, cost }, index) => {
    const width = ((WIDTH - 330) * cost) / most;
    const y = index * 24 + 4;
    return `<text x="4" y="${y + 13}">${escaped(name)}</text><rect x="250" y="${y}" width="${width.toFixed(1)}" height="16" class="${name === "ours" ? "ours" : "dot"}"/><text x="${(258 + width).toFixed(1)}" y="${y + 13}">${percent(cost)}</text>`;
  });
  return svg(height, shown);
}

/** The longest transcript's requests, stacked by part, on one scale for all policies. */
function areas(row: LabRow, all: readonly LabRow[]): string {
  const timeline = longest(row);
  const top = Math.max(1, ...all.flatMap((one) => longest(one).map(({ parts }) => sum(Object.values(parts)))));
  const last = Math.max(1, timeline.at(-1)?.turn ?? 1);
  const height = 120;
  const x = (turn: number): string => (LEFT + ((WIDTH - LEFT) * turn) / last).toFixed(1);
  const y = (tokens: number): string => (height - 4 - ((height - 8) * tokens) / top).toFixed(1);
  const layers = PARTS.map((part, index) => {
    const below = ({ parts }: Moment): number => sum(PARTS.slice(0, index).map((name) => parts[name]));
    const upper = timeline.map((moment) => `${x(moment.turn)},${y(below(moment) + moment.parts[part])}`);
    const lower = timeline.toReversed().map((moment) => `${x(moment.turn)},${y(below(moment))}`);
    return `<polygon class="${part}" points="${[...upper, ...lower].join(" ")}"/>`;
  });
  return svg(height, [...layers, `<text x="4" y="12">${number(top)}</text><text x="4" y="${height - 6}">0</text>`]);
}

function longest({ timelines }: LabRow): readonly Moment[] {
  const found = timelines.reduce((best, one) => (one.length > best.length ? one : best), timelines[0] ?? []);
  const step = Math.max(1, Math.floor(found.length / 400));
  return found.filter((_, index) => index % step === 0);
}

function svg(height: number, shapes: readonly string[]): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img">${shapes.join("")}</svg>`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function number(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function count(n: number, noun: string): string {
  return `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1d1f24; --paper: #fcfcfa; --faint: #d9d9d4; --ours: #c2410c; --dot: #64748b;
  --fixed: #94a3b8; --summary: #c2410c; --user: #0f766e; --assistant: #4f6bb8; --tool: #b8a24f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e7e2; --paper: #17181b; --faint: #3a3b40; --ours: #fb923c; --dot: #94a3b8;
  --fixed: #64748b; --summary: #fb923c; --user: #2dd4bf; --assistant: #8ba4f0; --tool: #d8c46a; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: 12.5px; width: 100%; display: block; overflow-x: auto; }
th, td { text-align: right; padding: .3rem .4rem; border-bottom: 1px solid var(--faint); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: var(--ink); } svg line { stroke: var(--faint); }
figure { margin: 0 0 1rem; } figcaption { font-size: 13px; }
.ours { fill: var(--ours); } .dot { fill: var(--dot); }
${PARTS.map((part) => `polygon.${part} { fill: var(--${part}); } .key .${part}::before { content: "■ "; color: var(--${part}); }`).join("\n")}
`;
