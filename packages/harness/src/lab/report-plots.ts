/** The plots of the lab's page: plain SVG, drawn for 360 pixels, so that a telephone shows them at their own size. Pure. */
import { sum } from "./evidence.ts";
import type { LabRow } from "./lab.ts";
import type { Moment, MomentPart } from "./simulate.ts";

export const PARTS: readonly MomentPart[] = ["fixed", "summary", "user", "assistant", "tool"];

const WIDTH = 360;
const LEFT = 44;
const RIGHT = WIDTH - 12;

/** A policy is a letter in plots: names would cover each other. */
export function letterOf(index: number): string {
  return index < 26 ? String.fromCharCode(65 + index) : String(index + 1);
}

export function scatter(rows: readonly LabRow[]): string {
  const height = 260;
  const floor = height - 34;
  const across = ticks(0, Math.max(1, ...rows.map(({ tokens }) => tokens)), 4);
  const heights = rows.map(({ known }) => known ?? 1);
  const up = ticks(Math.min(0.99, ...heights), 1, 4);
  const x = scale([0, across.at(-1)!], [LEFT, RIGHT - 16]);
  const y = scale([up[0]!, up.at(-1)!], [floor, 14]);
  const labels = apart(rows.map(({ tokens }, index) => ({ x: x(tokens), y: y(heights[index]!) })));
  const dots = rows.map(({ name, tokens }, index) => {
    const known = heights[index]!;
    const [cx, cy] = [x(tokens), y(known)];
    const at = labels[index]!;
    const hint = `${letterOf(index)} ${escaped(name)}: ${percent(known)} known, ${short(tokens)} tokens`;
    const line = `<line class="lead" x1="${px(cx)}" y1="${px(cy)}" x2="${px(at.x)}" y2="${px(at.y)}"/>`;
    const dot = `<circle cx="${px(cx)}" cy="${px(cy)}" r="4.5" class="${classOf(name)}"><title>${hint}</title></circle>`;
    return `${line}${dot}<text class="letter" x="${px(at.x)}" y="${px(at.y + 4)}">${letterOf(index)}</text>`;
  });
  return svg(height, [
    ...up.map((at) => `${grid(y(at))}<text x="2" y="${px(y(at) + 4)}">${percent(at)}</text>`),
    ...across.map((at) => `<text text-anchor="middle" x="${px(x(at))}" y="${floor + 16}">${short(at)}</text>`),
    `<text text-anchor="end" x="${RIGHT}" y="${height - 4}">tokens sent</text><text x="2" y="${height - 4}">known</text>`,
    ...dots,
  ]);
}

export function bars(rows: readonly LabRow[]): string {
  const up = ticks(0, Math.max(0.1, ...rows.map(({ cost }) => cost)), 4);
  const x = scale([0, up.at(-1)!], [28, RIGHT - 60]);
  const height = rows.length * 22 + 24;
  const shown = rows.map(({ name, cost }, index) => {
    const y = index * 22 + 4;
    const bar = `<rect x="28" y="${y}" width="${px(x(cost) - 28)}" height="15" class="${classOf(name)}"><title>${escaped(name)}: ${percent(cost)}</title></rect>`;
    return `<text class="letter" x="10" y="${y + 12}">${letterOf(index)}</text>${bar}<text x="${px(x(cost) + 5)}" y="${y + 12}">${percent(cost)}</text>`;
  });
  const axis = up.map((at) => `<text text-anchor="middle" x="${px(x(at))}" y="${height - 4}">${percent(at)}</text>`);
  return svg(height, [...shown, ...axis]);
}

/** The longest transcript's requests, stacked by part, on one scale for all policies, with a line at the window. */
export function areas(row: LabRow, all: readonly LabRow[], window: number): string {
  const height = 170;
  const floor = height - 22;
  const timeline = longest(row);
  const peak = Math.max(1, ...all.flatMap((one) => longest(one).map(({ parts }) => sum(Object.values(parts)))));
  // A window far above everything would leave the plots empty, and so would a policy far above the window.
  const isNear = window <= peak * 3;
  const up = ticks(0, isNear ? Math.min(Math.max(peak, window), window * 2) : peak, 3);
  const last = Math.max(1, timeline.at(-1)?.turn ?? 1);
  const top = up.at(-1)!;
  const x = scale([0, last], [LEFT, RIGHT]);
  const within = scale([0, top], [floor, 12]);
  const y = (tokens: number): number => within(Math.min(tokens, top));
  const layers = PARTS.map((part, index) => {
    const below = ({ parts }: Moment): number => sum(PARTS.slice(0, index).map((name) => parts[name]));
    const upper = timeline.map((moment) => `${px(x(moment.turn))},${px(y(below(moment) + moment.parts[part]))}`);
    const lower = timeline.toReversed().map((moment) => `${px(x(moment.turn))},${px(y(below(moment)))}`);
    return `<polygon class="${part}" points="${[...upper, ...lower].join(" ")}"><title>${part}</title></polygon>`;
  });
  const line = isNear
    ? `<line class="window" x1="${LEFT}" x2="${RIGHT}" y1="${px(y(window))}" y2="${px(y(window))}"/><text text-anchor="end" x="${RIGHT}" y="${px(y(window) - 3)}">window ${short(window)}</text>`
    : `<text text-anchor="end" x="${RIGHT}" y="10">window ${short(window)}, far above</text>`;
  return svg(height, [
    ...up.map((at) => `${grid(y(at))}<text x="2" y="${px(y(at) + 4)}">${short(at)}</text>`),
    ...layers,
    ...ticks(0, last, 4)
      .filter((at) => at <= last)
      .map((at) => `<text text-anchor="middle" x="${px(x(at))}" y="${height - 6}">${short(at)}</text>`),
    line,
    ...(row.peak > top ? [`<text x="${LEFT + 4}" y="10">up to ${short(row.peak)}</text>`] : []),
  ]);
}

/** Round numbers that hold both ends: steps of 1, 2 or 5 times a power of ten. */
export function ticks(least: number, most: number, count: number): number[] {
  const span = Math.max(most - least, Number.EPSILON);
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => span / one <= count) ?? power * 10;
  const first = Math.floor(least / step + 1e-9);
  const last = Math.ceil(most / step - 1e-9);
  // Multiplied, not added up: 0.1 three times isn't 0.3.
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

export function short(value: number): string {
  for (const [unit, sign] of [
    [1e9, " G"],
    [1e6, " M"],
    [1e3, "k"],
  ] as const)
    if (value >= unit) return `${Number((value / unit).toPrecision(3))}${sign}`;
  return String(Math.round(value));
}

export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

type Point = { readonly x: number; readonly y: number };

/** Where letters stand so that none covers another: beside their dot, or the next free place further away. */
function apart(points: readonly Point[]): Point[] {
  const placed: Point[] = [];
  const isFree = (at: Point): boolean =>
    placed.every((other) => Math.abs(other.x - at.x) >= 14 || Math.abs(other.y - at.y) >= 13) &&
    points.every((dot) => Math.abs(dot.x - at.x) >= 10 || Math.abs(dot.y - at.y) >= 9);
  for (const { x, y } of points) {
    const places = [14, 24, 34, 44, 58, 74].flatMap((far) =>
      [0, -45, 45, -90, 90, 135, -135, 180].map((degrees) => ({
        x: x + far * Math.cos((degrees * Math.PI) / 180),
        y: y + far * Math.sin((degrees * Math.PI) / 180),
      })),
    );
    const inside = places.filter((at) => at.x > LEFT + 6 && at.x < WIDTH - 6 && at.y > 10 && at.y < 224);
    placed.push(inside.find(isFree) ?? { x: x + 14, y });
  }
  return placed;
}

function longest({ timelines }: LabRow): readonly Moment[] {
  const found = timelines.reduce((best, one) => (one.length > best.length ? one : best), timelines[0] ?? []);
  const step = Math.max(1, Math.floor(found.length / 300));
  return found.filter((_, index) => index % step === 0);
}

function scale([from, to]: readonly [number, number], [start, end]: readonly [number, number]) {
  return (value: number): number => start + ((end - start) * (value - from)) / (to - from || 1);
}

function grid(y: number): string {
  return `<line x1="${LEFT}" x2="${RIGHT}" y1="${px(y)}" y2="${px(y)}"/>`;
}

function svg(height: number, shapes: readonly string[]): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img">${shapes.join("")}</svg>`;
}

function classOf(name: string): string {
  return name === "ours" ? "ours" : "dot";
}

function px(value: number): string {
  return String(Number(value.toFixed(1)));
}
