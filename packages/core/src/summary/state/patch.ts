/**
 * What a model may say about a summary: add items, reword or resolve known ones, replace where things stand and what is
 * next. Parsing is lenient about the packaging and strict about the content; whatever is not understood is left out and
 * named. A patch is only a proposal: merge.ts decides what of it holds.
 */

import { isRecord } from "../../text/is-record.ts";
import { findObject } from "../../text/lenient-json.ts";
import { withoutReasoning } from "./answer.ts";
import { type ItemStatus, type NewItem, SECTIONS, type SummarySection } from "./state.ts";

export interface SummaryPatch {
  readonly add: Readonly<Partial<Record<SummarySection, readonly NewItem[]>>>;
  readonly update: readonly {
    readonly id: string;
    readonly text: string;
    readonly seqs: readonly number[];
    readonly why?: string;
  }[];
  readonly resolve: readonly {
    readonly id: string;
    readonly status: Exclude<ItemStatus, "open">;
    readonly why: string;
  }[];
}

export type ParsedPatch =
  | {
      readonly kind: "patch";
      readonly patch: SummaryPatch;
      /** The answer ended early; complete items were kept. */
      readonly truncated: boolean;
      /** What was there but not understood. */
      readonly ignored: readonly string[];
    }
  | { readonly kind: "unusable"; readonly reason: "empty" | "only-reasoning" | "no-json" | "nothing-in-it" };

const MAX_PER_SECTION = 100;

export function parsePatch(answer: string): ParsedPatch {
  if (answer.trim() === "") return { kind: "unusable", reason: "empty" };
  const text = withoutReasoning(answer);
  if (text === "") return { kind: "unusable", reason: "only-reasoning" };
  const object = findObject(text);
  if (object.kind === "none") return { kind: "unusable", reason: "no-json" };
  const ignored: string[] = [];
  const patch = readPatch(object.value as Record<string, unknown>, ignored);
  const size = Object.values(patch.add).flat().length + patch.update.length + patch.resolve.length;
  if (size === 0) return { kind: "unusable", reason: "nothing-in-it" };
  return { kind: "patch", patch, truncated: object.truncated, ignored };
}

function readPatch(root: Record<string, unknown>, ignored: string[]): SummaryPatch {
  const add: Partial<Record<SummarySection, NewItem[]>> = {};
  // Some models put the sections at the top level instead of under `add`.
  const places = [root["add"], root].filter(isRecord);
  for (const section of SECTIONS) {
    const lists = places.map((place) => place[section]).filter((list) => list !== undefined && list !== null);
    const items = lists.flatMap((list) => readItems(list, section, ignored)).slice(0, MAX_PER_SECTION);
    if (items.length > 0) add[section] = items;
  }
  const fieldNames = new Set<string>([...SECTIONS, "add", "update", "resolve"]);
  for (const key of Object.keys(root)) if (!fieldNames.has(key)) ignored.push(`unknown key "${key.slice(0, 40)}"`);
  return { add, update: readUpdates(root["update"], ignored), resolve: readResolutions(root["resolve"], ignored) };
}

function readItems(list: unknown, section: SummarySection, ignored: string[]): NewItem[] {
  const values = Array.isArray(list) ? list : [list];
  return values.flatMap((value): NewItem[] => {
    const record = typeof value === "string" ? { text: value } : value;
    const text = isRecord(record) ? record["text"] : undefined;
    if (!isRecord(record) || typeof text !== "string") {
      ignored.push(`an item of ${section} without text`);
      return [];
    }
    if (isNothing(text)) return [];
    return [{ text, seqs: readSeqs(record), ...readWhy(record) }];
  });
}

function readUpdates(list: unknown, ignored: string[]): SummaryPatch["update"] {
  return records(list).flatMap((entry) => {
    const { id, text } = entry;
    if (typeof id === "string" && typeof text === "string" && !isNothing(text))
      return [{ id, text, seqs: readSeqs(entry), ...readWhy(entry) }];
    ignored.push("an update without id or text");
    return [];
  });
}

function readResolutions(list: unknown, ignored: string[]): SummaryPatch["resolve"] {
  return records(list).flatMap((entry) => {
    const { id, status } = entry;
    const why = entry["why"] ?? entry["reason"];
    if (typeof id === "string" && (status === "done" || status === "obsolete"))
      return [{ id, status, why: typeof why === "string" ? why : "" }];
    ignored.push("a resolution without id or status");
    return [];
  });
}

/** Numbers, or texts like "12", "#12", "12-14"; "seq" and "sources" are common slips. */
function readSeqs(record: Record<string, unknown>): number[] {
  const rawSeqs = record["seqs"] ?? record["seq"] ?? record["sources"] ?? record["source"] ?? [];
  return (Array.isArray(rawSeqs) ? rawSeqs : [rawSeqs]).slice(0, 50).flatMap((value) => {
    if (typeof value === "number") return Number.isSafeInteger(value) ? [value] : [];
    return typeof value === "string"
      ? [...value.matchAll(/\d{1,12}/g)].slice(0, 10).map((match) => Number(match[0]))
      : [];
  });
}

function readWhy(record: Record<string, unknown>): { why?: string } {
  const why = record["why"] ?? record["reason"];
  return typeof why === "string" && !isNothing(why) ? { why } : {};
}

function isNothing(text: string): boolean {
  return /^[\s\-*.]*(?:(?:none|n\/?a|nothing|null|unknown|not applicable|无|なし|없음|!)[\s.!]*)?$/iu.test(text);
}

function records(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : isRecord(list) ? [list] : [];
}
