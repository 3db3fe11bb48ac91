/**
 * Applies a model's patch to a summary state. The state wins every argument: items a patch doesn't mention stay [F6],
 * nothing is deleted but only marked, unknown ids and impossible sources are dropped and named, and text loses its
 * authority on the way in [F34] [F35].
 */

import { oneLine } from "../../text/clip.ts";
import { neutralize } from "./authority.ts";
import type { SummaryPatch } from "./patch.ts";
import {
  addItems,
  fewSeqs,
  isResolved,
  itemIds,
  MAX_ITEM_CHARS,
  type NewItem,
  SECTIONS,
  type SummaryItem,
  type SummarySection,
  type SummaryState,
  withSection,
} from "./state.ts";

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
