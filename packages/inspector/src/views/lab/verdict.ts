/** What a report comes to, in a few figures: the cheapest, the one that knows most, ours. Pure. */

/** Of a policy. */
export interface VerdictRow {
  readonly name: string;
  /** As a share of never pruning. */
  readonly cost: number;
  /** The share of distant uses that the prompt still held; null: there was nothing to know. */
  readonly known: number | null;
  /** Requests larger than the window. */
  readonly overWindow: number;
  readonly compactions: number;
}

export type Verdict =
  /** The transcript fits: a policy that waits for a full window had nothing to do. */
  | { readonly kind: "fits"; readonly idle: number }
  | { readonly kind: "compared"; readonly figures: readonly VerdictFigure[] };

interface VerdictFigure {
  readonly name: string;
  readonly policy: string;
  readonly value: number;
}

/** A policy whose requests the provider would refuse is not the best at anything. */
export function verdictOf(rows: readonly VerdictRow[]): Verdict {
  const idle = rows.filter(({ compactions }) => compactions === 0).length;
  const able = rows.filter(({ overWindow }) => overWindow === 0);
  if (idle * 2 > rows.length && able.length === rows.length) return { kind: "fits", idle };
  const cheapest = able.toSorted((a, b) => a.cost - b.cost)[0];
  const knowing = able.filter(({ known }) => known !== null).toSorted((a, b) => b.known! - a.known!)[0];
  const ours = rows.find(({ name }) => name === "ours");
  return {
    kind: "compared",
    figures: [
      ...figure("Costs least", cheapest?.name, cheapest?.cost),
      ...figure("Knows most", knowing?.name, knowing?.known),
      ...(cheapest === ours ? [] : figure("Ours costs", "of never pruning", ours?.cost)),
      ...(knowing === ours ? [] : figure("Ours knows", "of distant uses", ours?.known)),
    ],
  };
}

/** None where there is nothing to say. */
function figure(name: string, policy = "", value: number | null = null): readonly VerdictFigure[] {
  return value === null ? [] : [{ name, policy, value }];
}
