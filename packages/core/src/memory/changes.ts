/**
 * Changes to a memory document: each sets one fact or one section, and keeps what stood there before, so that history
 * can be read and any change taken back. Applying them is pure; who decides on them is elsewhere.
 */
import type { Fact, MemoryDocument, SectionPath } from "./document.ts";
import { SECTION_PATHS, sectionText } from "./document.ts";

export type ChangeKind = "add" | "edit" | "confirm" | "supersede" | "end" | "evict" | "forget" | "rewrite" | "undo";

interface Made {
  readonly kind: ChangeKind;
  /** The turns it comes from, as `thread#seq`; none for what a person did. */
  readonly sources: readonly string[];
  /** Why, where that is not plain. */
  readonly note?: string;
  /** Turns that nothing is learned from any more, and turns whose fence is lifted again. */
  readonly fences?: readonly string[];
  readonly unfences?: readonly string[];
  /** The change that this one takes back. */
  readonly undoes?: string;
}

/** `null` stands for a fact that wasn't there, or is no more. */
export type NewChange = Made &
  (
    | { readonly on: "fact"; readonly target: string; readonly before: Fact | null; readonly after: Fact | null }
    | { readonly on: "section"; readonly target: SectionPath; readonly before: string; readonly after: string }
  );

/** `id` is `c<revision>.<n>`; the changes of one save share the revision. */
export type Change = NewChange & {
  readonly id: string;
  readonly at: string;
  readonly by: "conversation" | "manual" | "import";
};

/** How many are kept; older ones can no longer be taken back. */
const KEPT_CHANGES = 1_000;

export interface Stamp {
  readonly at: string;
  readonly by: Change["by"];
}

/** The document after these changes, with their record in it and the next revision. */
export function applyChanges(document: MemoryDocument, changes: readonly NewChange[], stamp: Stamp): MemoryDocument {
  const revision = (document.revision ?? 0) + 1;
  const stamped = changes.map((change, index): Change => ({ ...change, ...stamp, id: `c${revision}.${index + 1}` }));
  let next = document;
  for (const change of changes) next = put(next, change);
  const newest = [...(document.changes ?? []), ...stamped].slice(-KEPT_CHANGES);
  return { ...next, revision, ...(newest.length > 0 ? { changes: newest } : {}) };
}

export type Undo =
  | { readonly kind: "changes"; readonly changes: readonly NewChange[]; readonly undone: readonly string[] }
  | { readonly kind: "refused"; readonly reason: "nothing" | "unknown-change" | "already-undone" | "erased" }
  /** What the change set has been set again since: take `later` back first. */
  | { readonly kind: "refused"; readonly reason: "changed-since"; readonly later: string };

/** Takes back one change (`c7.2`), all of one save (`c7`), or the newest save that stands. */
export function planMemoryUndo(document: MemoryDocument, wanted?: string): Undo {
  const all = document.changes ?? [];
  const taken = new Set(all.map((change) => change.undoes).filter((id) => id !== undefined));
  const target = wanted ?? groupOf(all.findLast((change) => !taken.has(change.id) && change.kind !== "undo")?.id ?? "");
  const chosen = all.filter(({ id }) => id === target || groupOf(id) === target);
  if (chosen.length === 0) return { kind: "refused", reason: wanted === undefined ? "nothing" : "unknown-change" };
  const live = chosen.filter(({ id }) => !taken.has(id));
  if (live.length === 0) return { kind: "refused", reason: "already-undone" };
  if (live.some(({ note }) => note === ERASED)) return { kind: "refused", reason: "erased" };
  let now = document;
  const changes: NewChange[] = [];
  for (const change of live.toReversed()) {
    if (!stands(now, change)) return { kind: "refused", reason: "changed-since", later: laterThan(all, change) };
    const back = inverse(change);
    changes.push(back);
    now = put(now, back);
  }
  return { kind: "changes", changes, undone: live.map(({ id }) => id) };
}

/** The note of a change whose words are gone: it can't be taken back any more. */
export const ERASED = "erased";

function groupOf(id: string): string {
  return id.split(".")[0]!;
}

function put(document: MemoryDocument, change: NewChange): MemoryDocument {
  if (change.on === "section") {
    if (!SECTION_PATHS.includes(change.target)) return document;
    const [group, name] = change.target.split(".") as ["userContext" | "history", string];
    return { ...document, [group]: { ...document[group], [name]: change.after } };
  }
  const { target, after } = change;
  const at = document.facts.findIndex(({ id }) => id === target);
  const facts = [...document.facts];
  if (after === null) facts.splice(at === -1 ? facts.length : at, 1);
  else if (at === -1) facts.push(after);
  else facts[at] = after;
  return { ...document, facts, ...fencesAfter(document, change) };
}

function fencesAfter(
  document: MemoryDocument,
  { fences = [], unfences = [] }: NewChange,
): Pick<MemoryDocument, "fenced"> {
  if (fences.length === 0 && unfences.length === 0) return {};
  const others = (document.fenced ?? []).filter((ref) => !fences.includes(ref) && !unfences.includes(ref));
  return { fenced: [...others, ...fences] };
}

function stands(document: MemoryDocument, change: Change): boolean {
  if (change.on === "section") return sectionText(document, change.target) === change.after;
  const now = document.facts.find(({ id }) => id === change.target) ?? null;
  return same(now, change.after);
}

function inverse(change: Change): NewChange {
  const { id, sources, fences, unfences } = change;
  const made = {
    kind: "undo" as const,
    sources,
    undoes: id,
    ...(unfences === undefined ? {} : { fences: unfences }),
    ...(fences === undefined ? {} : { unfences: fences }),
  };
  if (change.on === "section")
    return { ...made, on: "section", target: change.target, before: change.after, after: change.before };
  return { ...made, on: "fact", target: change.target, before: change.after, after: change.before };
}

function laterThan(all: readonly Change[], change: Change): string {
  const at = all.indexOf(change);
  return all.findLast((one, index) => index > at && one.target === change.target)?.id ?? change.id;
}

function same(a: Fact | null, b: Fact | null): boolean {
  if (a === null || b === null) return a === b;
  const spelled = (fact: Fact): string => JSON.stringify(Object.entries(fact).sort(([x], [y]) => (x < y ? -1 : 1)));
  return spelled(a) === spelled(b);
}
