/**
 * Draws what fills the window: one bar, and one line per part, at any width from 40 columns, readable without color.
 * A part always has the same sign and color, so that two bars can be compared.
 */
import type { Breakdown, PartName } from "@palimpsest/core/internal/prompt";
import { columns, grouped } from "./output.ts";

export interface DrawOptions {
  readonly title: string;
  readonly color: boolean;
  /** In columns. */
  readonly width: number;
}

type SliceName = PartName | "buffer" | "reserved";

interface Look {
  /** A sign as well as a color, so that the bar reads on paper, in logs and for the color-blind. */
  readonly sign: string;
  /** Of the 256 that terminals have. */
  readonly paint: number;
  readonly label: string;
}

const LOOKS: Readonly<Record<SliceName, Look>> = {
  base: { sign: "#", paint: 33, label: "base prompt" },
  memory: { sign: "&", paint: 135, label: "memory" },
  skills: { sign: "$", paint: 109, label: "skills" },
  instructions: { sign: "=", paint: 69, label: "instructions" },
  unseen: { sign: "?", paint: 245, label: "not in the file" },
  summary: { sign: "%", paint: 208, label: "summary" },
  acknowledgement: { sign: ",", paint: 180, label: "acknowledgement" },
  rules: { sign: "!", paint: 196, label: "rules" },
  state: { sign: ":", paint: 141, label: "state" },
  evidence: { sign: "^", paint: 170, label: "evidence" },
  user: { sign: "+", paint: 35, label: "user" },
  assistant: { sign: "*", paint: 38, label: "assistant" },
  tool: { sign: "o", paint: 178, label: "tool" },
  images: { sign: "i", paint: 204, label: "images" },
  repairs: { sign: "x", paint: 131, label: "repairs" },
  definitions: { sign: "@", paint: 66, label: "definitions" },
  buffer: { sign: "\u00b7", paint: 240, label: "free" },
  reserved: { sign: "r", paint: 243, label: "reserved (answer)" },
};

/** Free space is a group of its own. */
const GROUPS: readonly (readonly [string, readonly SliceName[]])[] = [
  ["System Prompt", ["base", "memory", "skills", "instructions", "unseen"]],
  [
    "Message History",
    [
      ...(["summary", "acknowledgement", "rules", "state", "evidence"] as const),
      ...(["user", "assistant", "tool", "images", "repairs"] as const),
    ],
  ],
  ["Tools", ["definitions"]],
  ["Free", ["buffer"]],
  ["Response", ["reserved"]],
];

export function drawBudget(budget: Breakdown, { title, color, width }: DrawOptions): string {
  const slices = slicesOf(budget);
  const share = Math.round((budget.total / budget.window) * 100);
  const over = budget.total > budget.window ? ", more than the window" : "";
  const room = Math.min(LABEL, width - FIGURES);
  const heading = [
    `${title}:`,
    `${grouped(budget.total)} of ${grouped(budget.window)} tokens`,
    `(${share} %${over}; ${budget.source})`,
  ].reduce(
    (line, piece) => `${line}${columns(line.split("\n").at(-1)!) + 1 + columns(piece) > width ? "\n" : " "}${piece}`,
  );
  return [
    heading,
    `[${barOf(slices, { window: budget.window, width: Math.min(width, WIDEST) - 2, color })}]`,
    ...GROUPS.flatMap(([group, names]) => {
      const parts = slices.filter(({ name }) => names.includes(name));
      if (parts.length === 0) return [];
      const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
      return [
        `${group.padEnd(room + 4)}${grouped(tokens).padStart(TOKENS)}`,
        ...parts.map((part) => {
          const label = LOOKS[part.name].label.slice(0, room).padEnd(room);
          const share = `${((part.tokens / budget.window) * 100).toFixed(1).padStart(8)} %`;
          return `  ${painted(part.name, color)} ${label}${grouped(part.tokens).padStart(TOKENS)}${share}`;
        }),
      ];
    }),
  ].join("\n");
}

/** The same in one line: `context 61 % · 39k of 64k [##==··]`. */
export function drawBudgetLine(budget: Breakdown, { color, width }: { color: boolean; width: number }): string {
  const text = budgetText(budget.total, budget.window);
  const room = Math.min(width, WIDEST) - text.length - 3;
  return room < LEAST_BAR
    ? text
    : `${text} [${barOf(slicesOf(budget), { window: budget.window, width: room, color })}]`;
}

export function budgetText(tokens: number, window: number): string {
  return `context ${Math.round((tokens / window) * 100)} % · ${short(tokens)} of ${short(window)}`;
}

/** While nothing fills it yet. */
export function windowText(window: number): string {
  return `window of ${short(window)}`;
}

const WIDEST = 80;
const LEAST_BAR = 8;
const LABEL = 18;
const TOKENS = 12;
/** What a row needs beside its label. */
const FIGURES = 4 + TOKENS + 10;

interface Slice {
  readonly name: SliceName;
  readonly tokens: number;
}

/** In the order of the groups: what is used, what is free, what is kept for the answer. */
function slicesOf({ groups }: Breakdown): Slice[] {
  const sizes = new Map(groups.flatMap(({ parts }) => Object.entries(parts)));
  return GROUPS.flatMap(([, names]) => names).flatMap((name) => {
    const tokens = sizes.get(name);
    return tokens === undefined ? [] : [{ name, tokens }];
  });
}

function short(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  return `${(tokens / 1000).toFixed(tokens < 9950 ? 1 : 0).replace(/\.0$/, "")}k`;
}

interface BarOptions {
  readonly window: number;
  readonly width: number;
  readonly color: boolean;
}

/** Every part that holds anything gets at least one cell, as long as there are cells. */
function barOf(slices: readonly Slice[], { window, width, color }: BarOptions): string {
  const visible = slices.filter(({ tokens }) => tokens > 0);
  const whole = Math.max(
    window,
    visible.reduce((sum, { tokens }) => sum + tokens, 0),
  );
  const sizes = visible.map(({ tokens }) => Math.max(1, Math.floor((tokens / whole) * width)));
  let spare = width - sizes.reduce((sum, size) => sum + size, 0);
  while (spare !== 0 && sizes.length > 0) {
    const largest = sizes.indexOf(Math.max(...sizes));
    sizes[largest]! += spare > 0 ? spare : -1;
    spare = width - sizes.reduce((sum, size) => sum + size, 0);
  }
  return visible.map(({ name }, index) => painted(name, color, sizes[index]!)).join("");
}

function painted(name: SliceName, color: boolean, count = 1): string {
  const { sign, paint } = LOOKS[name];
  const cells = sign.repeat(count);
  return color && count > 0 ? `\u001b[38;5;${paint}m${cells}\u001b[39m` : cells;
}
