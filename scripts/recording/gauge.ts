/**
 * The chat's own bar drawn large below the terminal: each part as wide as the chat drew it in its last line, in the same
 * color, moving from one bar to the next.
 */
import { colorOf } from "./palette.ts";
import { type Row, textOf } from "./record.ts";
import { escaped, type Motion, round } from "./svg.ts";
import type { Timeline } from "./timeline.ts";

export const GAUGE_HEIGHT = 128;

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** A second of the recording as a share of it. */
  at(second: number): string;
}

/** By the sign that the chat has for each, in the order of the bar. */
const PARTS = [
  { sign: "#", name: "system" },
  { sign: "=", name: null },
  { sign: "%", name: "summary" },
  { sign: ",", name: null },
  { sign: "^", name: "evidence" },
  { sign: "+", name: "user" },
  { sign: "*", name: "assistant" },
  { sign: "o", name: "results" },
  { sign: "@", name: "tools" },
  { sign: "\u00b7", name: "free" },
  { sign: "r", name: "answer" },
] as const;

interface Slice {
  readonly sign: string;
  readonly color: string;
  /** Shares of the bar. */
  readonly start: number;
  readonly size: number;
}

/** The parts of a bar such as `context 31 % · 2.5k of 8k [#=+*@@···rr]`. */
export function slicesOf(row: Row): Slice[] {
  const open = textOf(row).indexOf("[");
  const cells = row.slice(open + 1, -1);
  const slices: { sign: string; color: string; start: number; size: number }[] = [];
  for (const [index, { character: sign, style }] of cells.entries()) {
    const last = slices.at(-1);
    if (last?.sign === sign) last.size += 1 / cells.length;
    else slices.push({ sign, color: colorOf(style) ?? "#d6d8dd", start: index / cells.length, size: 1 / cells.length });
  }
  const unknown = slices.find(({ sign }) => !PARTS.some((part) => part.sign === sign));
  if (unknown !== undefined) throw new Error(`the bar has a part the recording doesn't know: ${unknown.sign}`);
  return slices;
}

export function drawGauge({ bars, captions }: Timeline, place: Place): Motion {
  const states = bars.map(({ row, from }) => ({ from, label: labelOf(row), slices: slicesOf(row) }));
  const colors = new Map(states.flatMap(({ slices }) => slices.map(({ sign, color }) => [sign, color])));
  const parts = PARTS.filter(({ sign }) => colors.has(sign)).map(({ sign }, index) => {
    const color = sign === "\u00b7" ? FREE : colors.get(sign)!;
    return drawPart(
      `g${index}`,
      color,
      states.map(({ from, slices }) => ({ from, slice: sliceOf(slices, sign) })),
      place,
    );
  });
  const said = states
    .map(({ from, label }, index) => ({ id: `l${index}`, text: label, from, to: states[index + 1]?.from ?? null }))
    .map((one) => drawText(one, { x: place.x + place.width, y: place.y + 30, anchor: "end", kind: "k", at: place.at }));
  const told = captions
    .map(({ text, from }, index) => ({ id: `c${index}`, text, from, to: captions[index + 1]?.from ?? null }))
    .map((one) => drawText(one, { x: place.x, y: place.y + 30, anchor: "start", kind: "", at: place.at }));
  const legend = drawLegend(colors, place);
  const all = [...parts, ...said, ...told];
  const frame = `<path d="M0 ${place.y}H${place.width + 2 * place.x}" stroke="#33363f"/>
<clipPath id="b"><rect x="${place.x}" y="${place.y + 46}" width="${place.width}" height="30" rx="6"/></clipPath>`;
  const bar = `<g clip-path="url(#b)">${parts.map(({ svg }) => svg).join("")}</g>`;
  const svg = `<g class="u">${frame}${bar}${[...said, ...told].map((one) => one.svg).join("\n")}${legend}</g>`;
  return { css: all.map(({ css }) => css).join("\n"), svg };
}

const FREE = "#2b2e36";

function labelOf(row: Row): string {
  return textOf(row).slice(0, textOf(row).indexOf("[")).trim();
}

/** One that isn't there stands, without a width, where it would. */
function sliceOf(slices: readonly Slice[], sign: string): { readonly start: number; readonly size: number } {
  const order = PARTS.map((part) => part.sign as string);
  const own = slices.find((slice) => slice.sign === sign);
  const next = slices.find((slice) => order.indexOf(slice.sign) > order.indexOf(sign));
  return own ?? { start: next?.start ?? 1, size: 0 };
}

interface State {
  readonly from: number;
  readonly slice: { readonly start: number; readonly size: number };
}

const MOVE = 0.7;

function drawPart(id: string, color: string, states: readonly State[], { x, y, width, at }: Place): Motion {
  const drawn = ({ slice: { start, size } }: State) =>
    `transform:translateX(${round(x + start * width)}px) scaleX(${round(size * width)})`;
  const frames = states.map((state, index) => {
    const next = states[index + 1]?.from;
    const from = index === 0 ? "0%" : at(state.from + MOVE);
    return `${from},${next === undefined ? "100%" : at(next)}{${drawn(state)}}`;
  });
  const last = states.at(-1)!;
  const css = `#${id}{${drawn(last)};animation-name:${id};animation-timing-function:ease-in-out}@keyframes ${id}{${frames.join("")}}`;
  return { css, svg: `<rect id="${id}" class="a" y="${y + 46}" width="1" height="30" fill="${color}"/>` };
}

interface Said {
  readonly id: string;
  readonly text: string;
  readonly from: number;
  /** Null: to the end, and in a picture that doesn't move. */
  readonly to: number | null;
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly anchor: "start" | "end";
  readonly kind: string;
  at(second: number): string;
}

function drawText({ id, text, from, to }: Said, { x, y, anchor, kind, at }: TextPlace): Motion {
  const end = to === null ? "100%{opacity:1}" : `${at(to)}{opacity:1}${at(to + 0.1)},100%{opacity:0}`;
  const css = `#${id}{animation-name:${id}}@keyframes ${id}{0%,${at(from)}{opacity:0}${at(from + 0.25)},${end}}`;
  const hidden = to === null ? "" : " h";
  return {
    css,
    svg: `<g id="${id}" class="a ${kind}${hidden}"><text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(text)}</text></g>`,
  };
}

function drawLegend(colors: ReadonlyMap<string, string>, { x, y }: Place): string {
  let left = x;
  const entries = PARTS.flatMap(({ sign, name }) => {
    const color = sign === "\u00b7" ? "#4a4e59" : colors.get(sign);
    if (name === null || color === undefined) return [];
    const entry = `<rect x="${left}" y="${y + 92}" width="10" height="10" rx="2" fill="${color}"/><text x="${left + 15}" y="${y + 101.5}" style="font-size:12px">${name}</text>`;
    left = round(left + 36 + name.length * 6.6);
    return [entry];
  });
  return `<g class="k">${entries.join("")}</g>`;
}
