/**
 * The typed summary: what a compaction record stores and the next compaction folds. Plain JSON, versioned, every item
 * with the few messages it came from. This file owns the shape, the caps and the reading of stored states; it decides
 * nothing about what is worth keeping in a prompt (render.ts) or worth learning from a conversation (extract.ts, patch.ts).
 */
import { oneLine } from "../../text/clip.ts";
import { isRecord } from "../../text/is-record.ts";
import { emptyLedger, type Ledger, readLedger } from "../ledger/ledger-state.ts";

export const SECTIONS = ["goals", "decisions", "files", "facts", "errors", "now", "next"] as const;

export type SummarySection = (typeof SECTIONS)[number];

export type ItemStatus = "open" | "done" | "obsolete";

export interface SummaryItem {
  /** Stable across compactions: the section's letter and a number that is never used twice. */
  readonly id: string;
  readonly text: string;
  /** The few messages it came from, ascending. */
  readonly seqs: readonly number[];
  /** Open when absent. */
  readonly status?: ItemStatus;
  /** Why a decision was taken, or why an item was resolved. */
  readonly why?: string;
}

export interface SummaryState {
  readonly v: 1;
  /** The last message covered, 0 for none. */
  readonly through: number;
  readonly nextId: number;
  readonly sections: Readonly<Record<SummarySection, readonly SummaryItem[]>>;
  /** A summary written as prose (custom prompt); it stands beside the items. */
  readonly prose: string | null;
  readonly ledger: Ledger;
}

/** An item before it has an id. */
export interface NewItem {
  readonly text: string;
  readonly seqs: readonly number[];
  readonly why?: string;
}

export const MAX_ITEM_CHARS = 600;
export const MAX_ITEM_SEQS = 5;
/** What the stored state holds per section; `now` and `next` are replaced each time and need little. */
export const MAX_ITEMS: Readonly<Record<SummarySection, number>> = {
  goals: 300,
  decisions: 300,
  files: 300,
  facts: 300,
  errors: 300,
  now: 12,
  next: 24,
};
/** And how many characters: more than the largest default summary can show of all sections together. */
export const MAX_SECTION_CHARS = 24_000;

export function emptyState(): SummaryState {
  return {
    v: 1,
    through: 0,
    nextId: 1,
    sections: {
      goals: [],
      decisions: [],
      files: [],
      facts: [],
      errors: [],
      now: [],
      next: [],
    },
    prose: null,
    ledger: emptyLedger(),
  };
}

/** Items added under fresh ids. A text already present in the section only gains sources. */
export function addItems(state: SummaryState, section: SummarySection, items: readonly NewItem[]): SummaryState {
  const list = [...state.sections[section]];
  const byText = new Map(list.map((item, index) => [item.text.toLowerCase(), index]));
  let nextId = state.nextId;
  for (const item of items) {
    const text = oneLine(item.text, MAX_ITEM_CHARS);
    if (text === "") continue;
    const twin = byText.get(text.toLowerCase());
    if (twin !== undefined) {
      const old = list[twin]!;
      list[twin] = { ...old, seqs: fewSeqs([...old.seqs, ...item.seqs]) };
      continue;
    }
    byText.set(text.toLowerCase(), list.length);
    list.push({
      id: `${section === "now" ? "w" : section[0]}${nextId++}`,
      text,
      seqs: fewSeqs(item.seqs),
      ...(item.why === undefined || item.why === "" ? {} : { why: oneLine(item.why, MAX_ITEM_CHARS) }),
    });
  }
  return withSection({ ...state, nextId }, section, list);
}

/**
 * Replaces a section, shedding what is over its caps: obsolete first, then done, then the oldest. What the user asked for
 * first is shown in every summary and stays.
 */
export function withSection(state: SummaryState, section: SummarySection, items: readonly SummaryItem[]): SummaryState {
  const stays = section === "goals" ? items.find((item) => !isResolved(item)) : undefined;
  return { ...state, sections: { ...state.sections, [section]: capped(items, MAX_ITEMS[section], stays) } };
}

/** A stored state of any past version; null when it is not one. Never throws: records are read back from disk. */
export function readState(stored: unknown): SummaryState | null {
  if (!isRecord(stored) || stored["v"] !== 1 || !isRecord(stored["sections"])) return null;
  const from = stored["sections"];
  let state: SummaryState = {
    ...emptyState(),
    through: wholeNumber(stored["through"]),
    nextId: Math.max(1, wholeNumber(stored["nextId"])),
    prose: typeof stored["prose"] === "string" ? stored["prose"] : null,
    ledger: readLedger(stored["ledger"]),
  };
  for (const section of SECTIONS) {
    const list = from[section];
    if (Array.isArray(list)) state = withSection(state, section, list.flatMap(readItem));
  }
  return state;
}

/** Every id in the state. */
export function itemIds(state: SummaryState): Set<string> {
  return new Set(SECTIONS.flatMap((section) => state.sections[section].map((item) => item.id)));
}

export function isResolved(item: SummaryItem): boolean {
  return item.status === "done" || item.status === "obsolete";
}

/** Distinct, ascending, few: the first and the newest ones. */
export function fewSeqs(seqs: readonly number[]): number[] {
  const sorted = [...new Set(seqs.filter((seq) => Number.isSafeInteger(seq) && seq > 0))].sort((a, b) => a - b);
  return sorted.length <= MAX_ITEM_SEQS ? sorted : [sorted[0]!, ...sorted.slice(1 - MAX_ITEM_SEQS)];
}

function capped(items: readonly SummaryItem[], max: number, stays: SummaryItem | undefined): readonly SummaryItem[] {
  let excess = items.length - max;
  let characters = items.reduce((sum, item) => sum + lengthOf(item), 0) - MAX_SECTION_CHARS;
  if (excess <= 0 && characters <= 0) return items;
  const gone = new Set<SummaryItem>();
  for (const sheddable of [
    (item: SummaryItem) => item.status === "obsolete",
    (item: SummaryItem) => item.status === "done",
    () => true,
  ]) {
    for (const item of items) {
      if (excess <= 0 && characters <= 0) break;
      if (gone.has(item) || item === stays || !sheddable(item)) continue;
      gone.add(item);
      excess--;
      characters -= lengthOf(item);
    }
  }
  return items.filter((item) => !gone.has(item));
}

function lengthOf({ text, why }: SummaryItem): number {
  return text.length + (why?.length ?? 0);
}

function readItem(value: unknown): SummaryItem[] {
  if (!isRecord(value) || typeof value["id"] !== "string" || typeof value["text"] !== "string") return [];
  const { id, text, status, why } = value;
  const seqs = Array.isArray(value["seqs"]) ? fewSeqs(value["seqs"] as number[]) : [];
  return [
    {
      id: id as string,
      text: oneLine(text as string, MAX_ITEM_CHARS),
      seqs,
      ...(status === "done" || status === "obsolete" || status === "open" ? { status } : {}),
      ...(typeof why === "string" ? { why: oneLine(why, MAX_ITEM_CHARS) } : {}),
    },
  ];
}

function wholeNumber(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

/** Message numbers as a person reads them: `[12, 40-44]`. */
export function formatSeqs(seqs: readonly number[]): string {
  if (seqs.length === 0) return "[no source]";
  const sorted = [...new Set(seqs)].sort((a, b) => a - b);
  const runs: string[] = [];
  for (let at = 0; at < sorted.length; ) {
    let end = at;
    while (sorted[end + 1] === sorted[end]! + 1) end++;
    runs.push(end === at ? `${sorted[at]}` : `${sorted[at]}-${sorted[end]}`);
    at = end + 1;
  }
  return `[${runs.join(", ")}]`;
}
