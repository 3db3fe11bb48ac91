/** A memory document as the view shows it: facts by category, sections, changes with what they did. Pure. */

export interface ShownFact {
  readonly id: string;
  readonly content: string;
  readonly category: string;
  readonly confidence: number;
  readonly createdAt?: string;
  readonly source?: string;
  readonly sourceMessageIds?: readonly string[];
  readonly validFrom?: string;
  readonly validTo?: string;
  readonly supersededBy?: string;
  readonly confirmedAt?: string;
}

export interface FactGroup {
  readonly category: string;
  readonly facts: readonly ShownFact[];
}

/** By category, the surest first; what no longer holds comes last, in a group of its own. */
export function groupsOf(facts: readonly ShownFact[], words: string): readonly FactGroup[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = facts.filter(({ content, category }) =>
    wanted.every((word) => `${content} ${category}`.toLowerCase().includes(word)),
  );
  const live = hits.filter(({ validTo }) => validTo === undefined);
  const past = hits.filter(({ validTo }) => validTo !== undefined);
  const categories = [...new Set(live.map(({ category }) => category))].toSorted();
  const groups = categories.map((category) => ({
    category,
    facts: live.filter((fact) => fact.category === category).toSorted((a, b) => b.confidence - a.confidence),
  }));
  return past.length === 0 ? groups : [...groups, { category: NO_LONGER, facts: past }];
}

export const NO_LONGER = "no longer true";

/** Where a turn is: `thread#seq`. A thread's id may hold the sign itself. */
export function turnOf(source: string): { readonly thread: string; readonly seq: number } | null {
  const at = source.lastIndexOf("#");
  const seq = Number(source.slice(at + 1));
  return at > 0 && Number.isInteger(seq) && seq > 0 ? { thread: source.slice(0, at), seq } : null;
}

export interface ShownChange {
  readonly id: string;
  readonly kind: string;
  readonly at?: string;
  readonly by?: string;
  readonly on?: string;
  readonly target?: string;
  readonly note?: string;
  readonly undoes?: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface TellableChange {
  readonly id: string;
  readonly at: string;
  readonly by: string;
  readonly what: string;
  readonly before: string;
  readonly after: string;
  readonly isUndone: boolean;
}

/** The newest first. */
export function changesOf(changes: readonly ShownChange[]): readonly TellableChange[] {
  const undone = new Set(changes.flatMap(({ undoes }) => undoes ?? []));
  return changes.toReversed().map(({ id, kind, at = "", by = "", on, target = "", note, ...sides }) => ({
    id,
    at,
    by,
    what: `${KINDS[kind] ?? kind}${on === "section" ? `: ${titleOf(target)}` : ""}${note === undefined ? "" : ` (${note})`}`,
    before: wordsOf(sides.before),
    after: wordsOf(sides.after),
    isUndone: undone.has(id),
  }));
}

/** As a person says what was done. */
const KINDS: Readonly<Record<string, string>> = {
  add: "added",
  edit: "corrected",
  forget: "forgotten",
  rewrite: "rewritten",
  supersede: "replaced",
  confirm: "confirmed",
  undo: "taken back",
  import: "imported",
};

function titleOf(path: string): string {
  return SECTIONS.find(([own]) => own === path)?.[1] ?? path;
}

function wordsOf(side: unknown): string {
  if (typeof side === "string") return side;
  const content = (side as { readonly content?: unknown } | null | undefined)?.content;
  return typeof content === "string" ? content : "";
}

export const SECTIONS = [
  ["userContext.workContext", "Work"],
  ["userContext.personalContext", "Personal"],
  ["userContext.topOfMind", "Top of mind"],
  ["history.recentMonths", "Recent months"],
  ["history.earlierContext", "Earlier"],
  ["history.longTermBackground", "Long-term background"],
] as const;

export function sectionOf(
  document: {
    readonly userContext: Readonly<Record<string, string>>;
    readonly history: Readonly<Record<string, string>>;
  },
  path: (typeof SECTIONS)[number][0],
): string {
  const [part, name] = path.split(".") as ["userContext" | "history", string];
  return document[part][name] ?? "";
}
