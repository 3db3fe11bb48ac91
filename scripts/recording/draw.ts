/**
 * Draws a recording as one SVG that moves by CSS alone, so that it works as an image. Without its animations, where somebody
 * asked for less motion or a program shows none, it is the last moment.
 */
import { drawGauge, GAUGE_HEIGHT } from "./gauge.ts";
import { colorOf } from "./palette.ts";
import { type Row, textOf } from "./record.ts";
import { escaped, type Motion, round } from "./svg.ts";
import { PROMPT, type Shown, type Timeline } from "./timeline.ts";

const COLUMNS = 80;
const ROWS = 17;
const CHARACTER = 8.4;
const LINE = 19;
const MARGIN = 18;
const TITLE = 38;
const WIDTH = COLUMNS * CHARACTER + 2 * MARGIN;
const SCREEN = ROWS * LINE + 14;
const HEIGHT = TITLE + SCREEN + GAUGE_HEIGHT;

export function drawRecording(timeline: Timeline, command: string): string {
  const { rows, seconds } = timeline;
  const at = (second: number) => `${round((second / seconds) * 100)}%`;
  const lines = rows.map((shown, index) => drawRow(shown, index, at));
  const gauge = drawGauge(timeline, { x: MARGIN, y: TITLE + SCREEN, width: WIDTH - 2 * MARGIN, at });
  const parts = [...lines, scrolling(rows, at), gauge];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="t d">
<title id="t">A chat that outgrows its window and forgets nothing</title>
<desc id="d">${escaped(`${command}. ${timeline.captions.map(({ text }) => text).join(" ")} ${lastWords(rows)}`)}</desc>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;white-space:pre;fill:#d6d8dd}
.u text{font:13px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
.k text,.k{fill:#9498a3}
.a{animation:${round(seconds)}s linear infinite both}
.h{opacity:0}
${parts.map(({ css }) => css).join("\n")}
@media(prefers-reduced-motion:reduce){.a{animation:none!important}}
</style>
<clipPath id="s"><rect x="1" y="${TITLE + 5}" width="${WIDTH - 2}" height="${SCREEN - 5}"/></clipPath>
<rect x=".5" y=".5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="11" fill="${GROUND}" stroke="#33363f"/>
<g class="u k"><circle cx="22" cy="19" r="5.5" fill="#ff5f57"/><circle cx="41" cy="19" r="5.5" fill="#febc2e"/><circle cx="60" cy="19" r="5.5" fill="#28c840"/>
<text x="${WIDTH / 2}" y="24" text-anchor="middle">${escaped(command)}</text></g>
<g clip-path="url(#s)"><g id="w" class="a">
${lines.map(({ svg }) => svg).join("\n")}
</g></g>
${gauge.svg}
</svg>
`;
}

const GROUND = "#16181d";

function lastWords(rows: readonly Shown[]): string {
  return rows
    .slice(-3)
    .map(({ row }) => textOf(row).trim())
    .join(" ");
}

function drawRow({ row, from, typed }: Shown, index: number, at: (second: number) => string): Motion {
  const baseline = TITLE + index * LINE + 18;
  const text = runsOf(row)
    .map(({ start, cells }) => drawRun(start, cells, baseline))
    .join("");
  if (from === 0) return { css: "", svg: text };
  const name = `r${index}`;
  const appear = appearing(name, at(from), at(from + 0.05));
  if (typed === null) return { css: appear, svg: `<g id="${name}" class="a">${text}</g>` };
  const count = row.length - PROMPT;
  const left = MARGIN + PROMPT * CHARACTER;
  const steps = typed.to > typed.from ? `steps(${count})` : "step-end";
  const width = round(count * CHARACTER);
  const css = `${appear}
#k${index}{animation-name:k${index}}@keyframes k${index}{0%,${at(typed.from)}{opacity:1;transform:none;animation-timing-function:${steps}}${at(typed.to + 0.01)}{opacity:1;transform:translateX(${width}px)}${at(typed.to + 0.35)}{opacity:1;transform:translateX(${width}px)}${at(typed.to + 0.36)},100%{opacity:0;transform:translateX(${width}px)}}`;
  const top = baseline - 14;
  const cover = `<g id="k${index}" class="a h"><rect x="${left}" y="${top}" width="${WIDTH}" height="18" fill="${GROUND}"/><rect x="${left}" y="${top}" width="8" height="17" fill="#d6d8dd"/></g>`;
  return { css, svg: `<g id="${name}" class="a">${text}${cover}</g>` };
}

/** A row that is there from `from` on, and in a picture that doesn't move. */
function appearing(name: string, from: string, to: string): string {
  return `#${name}{animation-name:${name}}@keyframes ${name}{0%,${from}{opacity:0}${to},100%{opacity:1}}`;
}

interface Run {
  readonly start: number;
  readonly cells: Row;
}

function runsOf(row: Row): Run[] {
  const runs: { start: number; cells: Row }[] = [];
  for (const [index, cell] of row.entries()) {
    const last = runs.at(-1);
    if (last !== undefined && last.cells[0]!.style === cell.style) last.cells = [...last.cells, cell];
    else runs.push({ start: index, cells: [cell] });
  }
  return runs.filter(({ cells }) => textOf(cells).trim() !== "");
}

/** Each run is given its width, so that the columns hold with any font. */
function drawRun(start: number, cells: Row, baseline: number): string {
  const text = textOf(cells);
  const lead = text.length - text.trimStart().length;
  const shown = text.trim();
  const x = round(MARGIN + (start + lead) * CHARACTER);
  const fill = fillOf(cells[0]!.style);
  const length = round(shown.length * CHARACTER);
  return `<text x="${x}" y="${baseline}" textLength="${length}"${fill === null ? "" : ` fill="${fill}" style="fill:${fill}"`}>${escaped(shown)}</text>`;
}

/** Null: as any text. */
function fillOf(style: string): string | null {
  const color = colorOf(style);
  if (color !== null) return color;
  return style.split(" ").includes("2") ? "#9498a3" : null;
}

/** The screen moves up when a row comes that has no room below the others; at the end the last rows stand there. */
function scrolling(rows: readonly Shown[], at: (second: number) => string): Motion {
  const offset = (index: number) => Math.min(0, ROWS - 1 - index) * LINE;
  const moves = rows
    .map(({ from }, index) => ({ from, by: offset(index) }))
    .filter(({ by }, index) => index > 0 && by !== offset(index - 1));
  const first = moves[0]!;
  const frames = [
    `0%,${at(first.from - 0.05)}{opacity:1;transform:none}`,
    ...moves.map(({ from, by }, index) => {
      const until = (moves[index + 1]?.from ?? from + 0.2) - 0.06;
      return `${at(from)},${at(Math.max(until, from + 0.01))}{transform:translateY(${by}px)}`;
    }),
    `98.5%{opacity:1;transform:translateY(${offset(rows.length - 1)}px)}100%{opacity:0;transform:translateY(${offset(rows.length - 1)}px)}`,
  ];
  const css = `#w{transform:translateY(${offset(rows.length - 1)}px);animation-name:w}@keyframes w{${frames.join("")}}`;
  return { css, svg: "" };
}
