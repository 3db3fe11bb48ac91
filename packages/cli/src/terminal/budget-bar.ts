/** Draws what fills the window: one bar, and one line per part. 80 columns, readable without color. */
import type { Breakdown } from "@palimpsest/core/tokens";
import { grouped } from "./grouped.ts";

export interface DrawOptions {
  readonly title: string;
  readonly color: boolean;
}

export function drawBudget(budget: Breakdown, { title, color }: DrawOptions): string {
  const { slices, whole, look } = sliced(budget);
  const bar = cells(slices, whole, WIDTH)
    .map((name) => painted(look.get(name)!, color))
    .join("");
  const share = Math.round((budget.total / budget.window) * 100);
  const over = budget.total > budget.window ? ", more than the window" : "";
  return [
    `${title}: ${grouped(budget.total)} of ${grouped(budget.window)} tokens (${share} %${over}; ${budget.source})`,
    `[${bar}]`,
    ...budget.groups.flatMap((group) => [
      `${group.name.padEnd(22)}${grouped(group.tokens).padStart(12)}`,
      ...Object.entries(group.parts).map(
        ([name, tokens]) =>
          `  ${painted(look.get(name)!, color)} ${(NAMES[name] ?? name).padEnd(18)}${grouped(tokens).padStart(12)}${percent(tokens, budget.window)}`,
      ),
    ]),
  ].join("\n");
}

/** The same in one line: `context 61 % · 39k of 64k [##==··]`. */
export function drawBudgetLine(budget: Breakdown, { color, width }: { color: boolean; width: number }): string {
  const { slices, whole, look } = sliced(budget);
  const bar = cells(slices, whole, width).map((name) => painted(look.get(name)!, color));
  return `${budgetText(budget.total, budget.window)} [${bar.join("")}]`;
}

export function budgetText(tokens: number, window: number): string {
  return `context ${Math.round((tokens / window) * 100)} % · ${short(tokens)} of ${short(window)}`;
}

/** While nothing fills it yet. */
export function windowText(window: number): string {
  return `window of ${short(window)}`;
}

function sliced(budget: Breakdown) {
  const slices = budget.groups
    .flatMap(({ parts }) => Object.entries(parts))
    .map(([name, tokens]) => ({ name, tokens }));
  const whole = Math.max(
    budget.window,
    slices.reduce((sum, { tokens }) => sum + tokens, 0),
  );
  const used = slices.filter(({ name }) => name !== "buffer" && name !== "reserved");
  const look = new Map(used.map(({ name }, index) => [name, LOOKS[index % LOOKS.length]!]));
  look.set("buffer", { mark: "\u00b7", paint: 90 }).set("reserved", { mark: "r", paint: 90 });
  return { slices, whole, look };
}

function short(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  return `${(tokens / 1000).toFixed(tokens < 9950 ? 1 : 0).replace(/\.0$/, "")}k`;
}

const WIDTH = 78;

interface Look {
  readonly mark: string;
  readonly paint: number;
}

/** Letters as well as colors, so that the bar reads on paper, in logs and for the color-blind. */
const LOOKS: readonly Look[] = [..."#=+*%@o~:x"].map((mark, index) => ({ mark, paint: 31 + (index % 6) }));

const NAMES: Readonly<Record<string, string>> = { base: "base prompt", buffer: "free", reserved: "reserved (answer)" };

/** Which part each cell of the bar belongs to: every part that holds anything gets at least one. */
function cells(slices: readonly { name: string; tokens: number }[], whole: number, width: number): string[] {
  const shown = slices.filter(({ tokens }) => tokens > 0);
  const sizes = shown.map(({ tokens }) => Math.max(1, Math.floor((tokens / whole) * width)));
  let spare = width - sizes.reduce((sum, size) => sum + size, 0);
  while (spare !== 0 && sizes.length > 0) {
    const largest = sizes.indexOf(Math.max(...sizes));
    sizes[largest]! += spare > 0 ? spare : -1;
    spare = width - sizes.reduce((sum, size) => sum + size, 0);
  }
  return shown.flatMap(({ name }, index) => Array.from({ length: sizes[index]! }, () => name));
}

function painted({ mark, paint }: Look, color: boolean): string {
  return color ? `\u001b[${paint}m${mark}\u001b[0m` : mark;
}

function percent(tokens: number, window: number): string {
  return `${((tokens / window) * 100).toFixed(1).padStart(8)} %`;
}
