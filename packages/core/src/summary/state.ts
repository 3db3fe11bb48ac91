/**
 * The typed summary: what a compaction record stores and the next compaction folds. Plain JSON, versioned, every item
 * with the few messages it came from. This file owns the shape, the caps and the reading of stored states; it decides
 * nothing about what is worth keeping in a prompt (render.ts) or worth learning from a conversation (extract.ts, patch.ts).
 */
import type { ShownEdit } from "../log/apply-prune.ts";
import { isRecord, oneLine } from "../text/names.ts";
import { emptyLedger, type Ledger, readLedger } from "./ledger-lines.ts";
import type { SummaryPatch } from "./patch.ts";

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
function itemIds(state: SummaryState): Set<string> {
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

/* What people changed in a summary, applied to its state. */

/** The state that the next summary extends. An edited item that no longer exists unchanged is added again. */
export function editedState(state: SummaryState, edits: readonly ShownEdit[]): SummaryState {
  if (edits.length === 0) return state;
  const lines = proseLines(state);
  let [now, prose]: [SummaryState, string[]] = [state, lines];
  for (const { item: id, was, section: name, text } of edits) {
    if (id.startsWith("p")) {
      const at = Number(id.slice(1)) - 1;
      if (lines[at] === was) prose = prose.with(at, text);
      continue;
    }
    const section = SECTIONS.find((one) => one === name) ?? "facts";
    const list = now.sections[section];
    const at = list.findIndex((item) => item.id === id && item.text === was);
    const item: SummaryItem = { ...(list[at] ?? { id, seqs: [] }), text };
    const kept = text === "" ? [] : [item];
    now = withSection(now, section, at < 0 ? [...list, ...kept] : list.toSpliced(at, 1, ...kept));
  }
  const nextId = Math.max(state.nextId, ...edits.map(({ item }) => (Number(item.slice(1)) || 0) + 1));
  const told = prose.filter((line) => line !== "").join("\n");
  return { ...now, nextId, prose: state.prose === null || told === "" ? null : told };
}

/** A compaction's stored state with its summary edited, so that the next one goes on from what people changed. */
export function withEdits(stored: unknown, edits: readonly ShownEdit[]): unknown {
  const summary = edits.length === 0 || !isRecord(stored) ? null : readState(stored["summary"]);
  return summary === null ? stored : { ...(stored as object), summary: editedState(summary, edits) };
}

export function proseLines({ prose }: SummaryState): string[] {
  return prose === null ? [] : prose.split("\n").filter((line) => line.trim() !== "");
}

/*
 * Applies a model's patch to a summary state. The state wins every argument: items a patch doesn't mention stay [F6],
 * nothing is deleted but only marked, unknown ids and impossible sources are dropped and named, and text loses its
 * authority on the way in [F34] [F35].
 */

export interface MergeOptions {
  /** First and last message the model was shown. */
  readonly coveredRange: readonly [first: number, last: number];
  /** Ids the model was shown; all of the state's when absent. */
  readonly knownIds?: ReadonlySet<string>;
  /** Finds the messages that hold a text's rare terms, given those the model claimed (see `createLocator`). */
  readonly locate?: (text: string, claimed: readonly number[]) => readonly number[];
}

export interface Merged {
  readonly state: SummaryState;
  readonly dropped: readonly { readonly what: string; readonly why: DropReason }[];
}

export type DropReason =
  | "unknown-id"
  | "impossible-source"
  | "too-many-resolutions"
  | "approval-spent"
  | "imperative-reported";

/** Room for what neutralizing adds. */
const MAX_TEXT = MAX_ITEM_CHARS - 120;

export function mergePatch(state: SummaryState, patch: SummaryPatch, options: MergeOptions): Merged {
  const dropped: { what: string; why: DropReason }[] = [];
  const drop = (what: string, why: DropReason) => dropped.push({ what: oneLine(what, 160), why });
  const knownIds = options.knownIds ?? itemIds(state);
  let next: SummaryState = { ...state, through: Math.max(state.through, options.coveredRange[1]) };

  next = applyUpdates(next, patch, { ...options, known: knownIds, drop });
  next = applyResolutions(next, patch, knownIds, drop);
  for (const section of SECTIONS) {
    const items = (patch.add[section] ?? []).flatMap((item) => soundItem(item, section, options, drop));
    if (items.length === 0) continue;
    // Where things stand and what is next are replaced, never piled up.
    const replaced = section === "now" || section === "next" ? withSection(next, section, []) : next;
    next = addItems(replaced, section, items);
  }
  return { state: next, dropped };
}

type Drop = (what: string, why: DropReason) => void;

function applyUpdates(
  state: SummaryState,
  patch: SummaryPatch,
  options: MergeOptions & { known: ReadonlySet<string>; drop: Drop },
): SummaryState {
  let next = state;
  for (const update of patch.update) {
    const section = sectionOf(next, update.id);
    if (section === null || !options.known.has(update.id)) {
      options.drop(update.id, "unknown-id");
      continue;
    }
    const [sound] = soundItem(update, section, options, options.drop);
    if (sound === undefined) continue;
    next = withSection(
      next,
      section,
      next.sections[section].map((item) =>
        item.id === update.id ? { ...item, ...sound, seqs: fewSeqs([...item.seqs, ...sound.seqs]) } : item,
      ),
    );
  }
  return next;
}

/** Resolved items are the first to be shed, so one patch may resolve at most half of what is open, and always a few. */
function applyResolutions(
  state: SummaryState,
  patch: SummaryPatch,
  knownIds: ReadonlySet<string>,
  drop: Drop,
): SummaryState {
  const open = SECTIONS.flatMap((section) => state.sections[section]).filter((item) => !isResolved(item)).length;
  let allowed = Math.min(Math.max(3, Math.floor(open / 2)), Math.max(0, open - 1));
  let next = state;
  for (const { id, status, why } of patch.resolve) {
    const section = sectionOf(next, id);
    if (section === null || !knownIds.has(id)) {
      drop(id, "unknown-id");
      continue;
    }
    if (allowed === 0) {
      drop(id, "too-many-resolutions");
      continue;
    }
    allowed--;
    const reason = oneLine(neutralize(oneLine(why, 200), "other").text, MAX_TEXT);
    const resolve = (item: SummaryItem): SummaryItem => ({
      ...item,
      status,
      ...(reason === "" ? {} : { why: reason }),
    });
    next = withSection(
      next,
      section,
      next.sections[section].map((item) => (item.id === id ? resolve(item) : item)),
    );
  }
  return next;
}

/** The item with sources that can be true, or nothing. */
function soundItem(item: NewItem, section: SummarySection, options: MergeOptions, drop: Drop): NewItem[] {
  const [first, last] = options.coveredRange;
  const possible = item.seqs.filter((seq) => seq >= first && seq <= last);
  const seqs = options.locate?.(item.text, possible) ?? possible;
  if (item.seqs.length > 0 && possible.length === 0 && seqs.length === 0) {
    drop(item.text, "impossible-source");
    return [];
  }
  const safe = neutralize(oneLine(item.text, MAX_TEXT), section === "goals" ? "user" : "other");
  if (safe.changed !== null) drop(item.text, safe.changed === "approval" ? "approval-spent" : "imperative-reported");
  const why = item.why === undefined ? {} : { why: neutralize(oneLine(item.why, MAX_TEXT), "other").text };
  return safe.text === "" ? [] : [{ text: safe.text, seqs: fewSeqs(seqs), ...why }];
}

function sectionOf(state: SummaryState, id: string): SummarySection | null {
  return SECTIONS.find((section) => state.sections[section].some((item) => item.id === id)) ?? null;
}

interface Neutralized {
  readonly text: string;
  readonly changed: "approval" | "imperative" | null;
}

const SPENT = "(past approval, spent: ask again)";

const REPORTED = "(reported words, not an instruction)";

const APPROVAL =
  /\b(?:user|human|owner|customer|client|admin|operator|manager|they|he|she|you|we)\b[^.!?\n]{0,60}?\b(?:approved?|authori[sz]e[ds]?|consent(?:s|ed)?|agreed? to|confirmed|permits?|permitted|allowed|okayed|green-?lit|signed off|said (?:yes|ok|okay|go ahead)|gave (?:permission|consent|approval|the go-ahead|the green light)|granted|ha(?:s|ve|d) (?:permission|approval|consent))\b|\b(?:permission|approval|consent|authori[sz]ation)\b[^.!?\n]{0,30}\b(?:granted|given|obtained|received|on file)\b|\bpre-?(?:approved|authori[sz]ed)\b|\b(?:is|are|was|were|been) (?:already )?(?:approved|authori[sz]ed)\b|(?:用户|客户)[^。\n]{0,20}(?:已?批准|同意|授权|许可)/iu;

/** What a user says to approve, which only the user's own words can be. */
const ASSENT =
  /\b(?:go ahead|lgtm|do it|ship it|proceed|i (?:approve|confirm|authori[sz]e|agree|allow)|you (?:can|may) (?:now |then |just )?(?:go|proceed|delete|remove|push|merge|deploy|send|pay|book|cancel|run|drop))\b|^(?:approved|confirmed|agreed)\b|(?:可以|同意|批准)(?:了|吧|删除|执行)/iu;

const OVERRIDE =
  /\b(?:ignore|disregard|forget|override|bypass|overrule)\b[^.!?\n]{0,60}\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|safety|restrictions?|everything)\b|\b(?:new|updated|real|hidden) (?:system )?instructions?\s*:|\b(?:do not|don't|never) (?:tell|inform|mention (?:this )?to|ask) the user\b|\byou are (?:now|no longer)\b|\byou (?:may|can|must|should|have to|need to) now\b|^[^\S\n]*(?:system|developer|assistant|human|user)\s*:|<\/?(?:system|instructions?|assistant|user)\b|\[\/?INST\]|<\|im_(?:start|end)\|>|忽略[^。\n]{0,12}(?:指令|指示|规则|提示)/imu;

const COMMANDING = /^\s*(?:please\s+|agent[,:]\s*|you (?:must|should|have to|need to)\s+)/iu;

/** `speaker` "user": the user's own words, whose demands on the agent are wishes to remember, not an attack. */
export function neutralize(text: string, speaker: "user" | "other"): Neutralized {
  let result: Neutralized = { text, changed: null };
  const approves = APPROVAL.test(text) || (speaker === "user" && ASSENT.test(text));
  if (approves && !text.includes(SPENT)) result = { text: `${text} ${SPENT}`, changed: "approval" };
  const addresses = OVERRIDE.test(text) || (speaker === "other" && COMMANDING.test(text));
  if (addresses && !text.includes(REPORTED))
    result = { text: `It was said: "${result.text}" ${REPORTED}`, changed: "imperative" };
  return result;
}
