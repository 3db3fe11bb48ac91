/**
 * The memory document: what is remembered for one user and one agent, as plain JSON. Its fields are those of the layout
 * other tools read and write too; what we add is optional and stands beside them. Reading is lenient and total, and
 * keeps fields it doesn't know; nothing here decides what is worth remembering.
 */
import { isRecord } from "../text/names.ts";
import type { Change } from "./changes.ts";

export interface MemoryDocument {
  readonly userContext: Readonly<Record<UserSection, string>>;
  readonly history: Readonly<Record<HistorySection, string>>;
  readonly facts: readonly Fact[];
  /** Where an agent's own document was copied from, at its first save. */
  readonly copiedFrom?: string;
  /** Counts the saves; compare-and-set goes by it. */
  readonly revision?: number;
  /** By thread: the last seq that was read for facts. */
  readonly watermarks?: Readonly<Record<string, number>>;
  /** By thread: the hash of the record the watermark stands at. */
  readonly marks?: Readonly<Record<string, string>>;
  /** By turn (`thread#seq`): the id of the message it names. */
  readonly sources?: Readonly<Record<string, string>>;
  /** Source turns of what was forgotten: nothing is learned from them again. */
  readonly fenced?: readonly string[];
  /** The audit: every change with its preimage, oldest first. */
  readonly changes?: readonly Change[];
}

export interface Fact {
  readonly id: string;
  readonly content: string;
  /** An open string: `preference`, `knowledge`, `context`, `behavior`, `goal`, ... */
  readonly category: string;
  readonly confidence: number;
  readonly createdAt: string;
  /** `conversation`: learned; `manual`: a person wrote it. */
  readonly source: string;
  /** The turns it was drawn from, as `thread#seq`. */
  readonly sourceMessageIds?: readonly string[];
  readonly validFrom?: string;
  /** Set when it stopped being true. The fact stays as history and is no longer used. */
  readonly validTo?: string;
  readonly supersededBy?: string;
  readonly confirmedAt?: string;
}

const USER_SECTIONS = ["workContext", "personalContext", "topOfMind"] as const;
const HISTORY_SECTIONS = ["recentMonths", "earlierContext", "longTermBackground"] as const;
type UserSection = (typeof USER_SECTIONS)[number];
type HistorySection = (typeof HISTORY_SECTIONS)[number];
/** `userContext.topOfMind` and the like. */
export type SectionPath = `userContext.${UserSection}` | `history.${HistorySection}`;

export const SECTION_PATHS: readonly SectionPath[] = [
  ...USER_SECTIONS.map((name) => `userContext.${name}` as const),
  ...HISTORY_SECTIONS.map((name) => `history.${name}` as const),
];

export function emptyDocument(): MemoryDocument {
  return {
    userContext: { workContext: "", personalContext: "", topOfMind: "" },
    history: { recentMonths: "", earlierContext: "", longTermBackground: "" },
    facts: [],
  };
}

/** 2-space JSON with a line end, as other tools write it. */
export function writeDocument(document: MemoryDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

export type ReadDocument =
  | { readonly kind: "document"; readonly document: MemoryDocument; readonly notes: readonly string[] }
  | { readonly kind: "unreadable"; readonly reason: string };

/** From JSON text. An empty text is unreadable, not an empty memory. */
export function parseDocument(text: string): ReadDocument {
  try {
    return readDocument(JSON.parse(text));
  } catch (error) {
    return { kind: "unreadable", reason: text.trim() === "" ? "it is empty" : `it is not JSON (${String(error)})` };
  }
}

/** From a parsed value; sections may be texts or `{summary}` objects, and `user` may stand for `userContext`. */
export function readDocument(value: unknown): ReadDocument {
  if (!isRecord(value)) return { kind: "unreadable", reason: "it is not a JSON object" };
  const { userContext, user, history, facts, ...rest } = value;
  if (facts !== undefined && facts !== null && !Array.isArray(facts))
    return { kind: "unreadable", reason: "its facts are not a list" };
  const notes: string[] = [];
  const document = {
    userContext: readSections(userContext ?? user, USER_SECTIONS),
    history: readSections(history, HISTORY_SECTIONS),
    facts: readFacts((facts ?? []) as unknown[], notes),
    ...readExtensions(rest),
  };
  return { kind: "document", document: document as MemoryDocument, notes };
}

/** Any number within 0 and 1, also where it was written as a text; what is no number is 0, so it can't sort first. */
export function clampConfidence(value: unknown): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && !Number.isNaN(number) ? Math.min(1, Math.max(0, number)) : 0;
}

/** Facts that hold now. Whether one has ended is recorded, never computed from a clock. */
export function liveFacts(document: MemoryDocument): readonly Fact[] {
  return document.facts.filter((fact) => fact.validTo === undefined);
}

export function sectionText(document: MemoryDocument, path: SectionPath): string {
  const [group, name] = path.split(".") as ["userContext" | "history", UserSection & HistorySection];
  return document[group][name];
}

function readSections<Name extends string>(value: unknown, names: readonly Name[]): Record<Name, string> {
  const fields = isRecord(value) ? value : {};
  const texts = Object.fromEntries(names.map((name) => [name, sectionOf(fields[name])]));
  return { ...fields, ...texts } as Record<Name, string>;
}

function sectionOf(value: unknown): string {
  if (typeof value === "string") return value;
  return isRecord(value) && typeof value["summary"] === "string" ? value["summary"] : "";
}

function readFacts(list: readonly unknown[], notes: string[]): Fact[] {
  const taken = new Set<string>();
  const facts: Fact[] = [];
  for (const [index, raw] of list.entries()) {
    const fields: Record<string, unknown> = typeof raw === "string" ? { content: raw } : isRecord(raw) ? raw : {};
    const content = typeof fields["content"] === "string" ? fields["content"].trim() : "";
    if (content === "") {
      notes.push(`fact ${index + 1} has no content and was left out`);
      continue;
    }
    const id = freeId(typeof fields["id"] === "string" || typeof fields["id"] === "number" ? fields["id"] : "", taken);
    facts.push({
      ...fields,
      id,
      content,
      category: textOr(fields["category"], "context"),
      confidence: clampConfidence(fields["confidence"]),
      createdAt: textOr(fields["createdAt"], "1970-01-01T00:00:00Z"),
      source: textOr(fields["source"], "conversation"),
      ...optionalTexts(fields),
    });
  }
  return facts;
}

function freeId(wanted: string | number, taken: Set<string>): string {
  const base = String(wanted).trim() === "" ? `fact-${taken.size + 1}` : String(wanted);
  let id = base;
  for (let n = 2; taken.has(id); n += 1) id = `${base}-${n}`;
  taken.add(id);
  return id;
}

/** A value of the wrong type would break its readers, so it is dropped. */
function optionalTexts(fields: Readonly<Record<string, unknown>>): Partial<Fact> {
  const fieldTexts: Record<string, unknown> = {};
  for (const name of ["validFrom", "validTo", "supersededBy", "confirmedAt"]) {
    if (fields[name] !== undefined) fieldTexts[name] = typeof fields[name] === "string" ? fields[name] : undefined;
  }
  const ids = fields["sourceMessageIds"];
  if (ids !== undefined) fieldTexts["sourceMessageIds"] = texts(ids);
  return fieldTexts as Partial<Fact>;
}

function readExtensions(rest: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { revision, watermarks, marks, sources, fenced, changes, copiedFrom, ...unknown } = rest;
  const merged: Record<string, unknown> = { ...unknown };
  if (typeof copiedFrom === "string") merged["copiedFrom"] = copiedFrom;
  if (Number.isSafeInteger(revision) && (revision as number) >= 0) merged["revision"] = revision;
  if (isRecord(watermarks)) {
    const entries = Object.entries(watermarks).filter(([, seq]) => Number.isSafeInteger(seq));
    merged["watermarks"] = Object.fromEntries(entries);
  }
  for (const [name, map] of Object.entries({ marks, sources })) {
    if (isRecord(map))
      merged[name] = Object.fromEntries(Object.entries(map).filter(([, one]) => typeof one === "string"));
  }
  if (fenced !== undefined) merged["fenced"] = texts(fenced);
  if (Array.isArray(changes))
    merged["changes"] = changes.filter((one) => isRecord(one) && typeof one["id"] === "string");
  return merged;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" && value.trim() !== "" ? value : otherwise;
}
