/** The figures of the search bench as rows of text. */

import type { Figure, Summary } from "../../packages/lab/src/eval/search-figures.ts";
import type { MapFigure } from "./map-figures.ts";
import type { Fold, Gain } from "./search-constants.ts";

export interface TableRow {
  readonly [column: string]: string | number;
}

export function tableRow(who: string, { set, kind, questions, figures }: Summary): TableRow {
  const print = kind === null ? withInterval : points;
  const cells = Object.entries(figures).map(([name, figure]) => [name, print(figure)] as const);
  return { set, ...(kind !== null && { kind }), who, questions, ...Object.fromEntries(cells) };
}

function withInterval({ mean, low, high }: Figure): string {
  return `${points({ mean })} [${Math.round(100 * low)}, ${Math.round(100 * high)}]`;
}

function points({ mean }: Pick<Figure, "mean">): string {
  return (100 * mean).toFixed(1);
}

export function mapRow({ evidence, cover, ...row }: MapFigure): TableRow {
  return { ...row, evidence: points({ mean: evidence }), cover: points({ mean: cover }) };
}

/** A row for each constant, a column for each set: what it gains in the first 10, 50 and 100 hits. */
export function gainRows(gains: readonly Gain[]): TableRow[] {
  const nameOf = ({ setting }: Gain): string => JSON.stringify(setting);
  return [...Map.groupBy(gains, nameOf)].map(([name, own]) => ({
    against: name,
    ...Object.fromEntries(
      own.map(({ set, gains: figures }) => [set, Object.values(figures).map(withInterval).join(" / ")]),
    ),
  }));
}

export function foldRow({ left, setting, figures, asTheyAre }: Fold): TableRow {
  const cell = (shares: Readonly<Record<string, number>>): string =>
    Object.values(shares)
      .map((mean) => points({ mean }))
      .join(" / ");
  return { left: left.join(" + "), chosen: JSON.stringify(setting), found: cell(figures), asTheyAre: cell(asTheyAre) };
}
