/**
 * The plots of the lab's report: plain SVG, drawn for 360 pixels, so that a telephone shows them at their own size. Shown by
 * the report's page and by the inspector. Pure.
 */
import { type Drawn, drawn } from "./drawn.ts";
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

/** What the plots show of a row. */
export type PlottedRow = Pick<LabRow, "name" | "cost" | "tokens" | "known" | "peak" | "timelines">;

export function scatter(rows: readonly PlottedRow[]): Drawn {
  const height = 260;
  const floor = height - 34;
  const across = ticks(0, Math.max(1, ...rows.map(({ tokens }) => tokens)), 4);
  const heights = rows.map(({ known }) => known ?? 1);
  const up = ticks(Math.min(0.99, ...heights), 1, 4);
  const x = scale([0, across.at(-1)!], [LEFT, RIGHT - 16]);
  const y = scale([up[0]!, up.at(-1)!], [floor, 14]);
  const labels = apart(rows.map(({ tokens }, index) => ({ x: x(tokens), y: y(heights[index]!) })));
  const dots = rows.flatMap(({ name, tokens }, index) => {
    const known = heights[index]!;
    const [cx, cy] = [x(tokens), y(known)];
    const at = labels[index]!;
    const hint = `${letterOf(index)} ${name}: ${percent(known)} known, ${short(tokens)} tokens`;
    return [
      drawn("line", { class: "lead", x1: px(cx), y1: px(cy), x2: px(at.x), y2: px(at.y) }),
      drawn("circle", { cx: px(cx), cy: px(cy), r: "4.5", class: classOf(name) }, drawn("title", {}, hint)),
      drawn("text", { class: "letter", x: px(at.x), y: px(at.y + 4) }, letterOf(index)),
    ];
  });
  return svg(height, [
    ...up.flatMap((at) => [grid(y(at)), drawn("text", { x: "2", y: px(y(at) + 4) }, percent(at))]),
    ...across.map((at) => drawn("text", { "text-anchor": "middle", x: px(x(at)), y: px(floor + 16) }, short(at))),
    drawn("text", { "text-anchor": "end", x: px(RIGHT), y: px(height - 4) }, "tokens sent"),
    drawn("text", { x: "2", y: px(height - 4) }, "known"),
    ...dots,
  ]);
}

export function bars(rows: readonly PlottedRow[]): Drawn {
  const up = ticks(0, Math.max(0.1, ...rows.map(({ cost }) => cost)), 4);
  const x = scale([0, up.at(-1)!], [28, RIGHT - 60]);
  const height = rows.length * 22 + 24;
  const shown = rows.flatMap(({ name, cost }, index) => {
    const y = index * 22 + 4;
    const size = { width: px(x(cost) - 28), height: "15" };
    const hint = drawn("title", {}, `${name}: ${percent(cost)}`);
    return [
      drawn("text", { class: "letter", x: "10", y: px(y + 12) }, letterOf(index)),
      drawn("rect", { x: "28", y: px(y), ...size, class: classOf(name) }, hint),
      drawn("text", { x: px(x(cost) + 5), y: px(y + 12) }, percent(cost)),
    ];
  });
  const axis = up.map((at) => drawn("text", { "text-anchor": "middle", x: px(x(at)), y: px(height - 4) }, percent(at)));
  return svg(height, [...shown, ...axis]);
}

/** The longest transcript's requests, stacked by part, on one scale for all policies, with a line at the window. */
export function areas(row: PlottedRow, all: readonly PlottedRow[], window: number): Drawn {
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
    return drawn("polygon", { class: part, points: [...upper, ...lower].join(" ") }, drawn("title", {}, part));
  });
  const ends = { x1: px(LEFT), x2: px(RIGHT), y1: px(y(window)), y2: px(y(window)) };
  const right = { "text-anchor": "end", x: px(RIGHT) };
  const line = isNear
    ? [
        drawn("line", { class: "window", ...ends }),
        drawn("text", { ...right, y: px(y(window) - 3) }, `window ${short(window)}`),
      ]
    : [drawn("text", { ...right, y: "10" }, `window ${short(window)}, far above`)];
  return svg(height, [
    ...up.flatMap((at) => [grid(y(at)), drawn("text", { x: "2", y: px(y(at) + 4) }, short(at))]),
    ...layers,
    ...ticks(0, last, 4)
      .filter((at) => at <= last)
      .map((at) => drawn("text", { "text-anchor": "middle", x: px(x(at)), y: px(height - 6) }, short(at))),
    ...line,
    ...(row.peak > top ? [drawn("text", { x: px(LEFT + 4), y: "10" }, `up to ${short(row.peak)}`)] : []),
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

function longest({ timelines }: PlottedRow): readonly Moment[] {
  const found = timelines.reduce((best, one) => (one.length > best.length ? one : best), timelines[0] ?? []);
  const step = Math.max(1, Math.floor(found.length / 300));
  return found.filter((_, index) => index % step === 0);
}

function scale([from, to]: readonly [number, number], [start, end]: readonly [number, number]) {
  return (value: number): number => start + ((end - start) * (value - from)) / (to - from || 1);
}

function grid(y: number): Drawn {
  return drawn("line", { x1: px(LEFT), x2: px(RIGHT), y1: px(y), y2: px(y) });
}

function svg(height: number, shapes: readonly Drawn[]): Drawn {
  return drawn("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img" }, ...shapes);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function classOf(name: string): string {
  return name === "ours" ? "ours" : "dot";
}

function px(value: number): string {
  return String(Number(value.toFixed(1)));
}
