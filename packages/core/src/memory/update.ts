/**
 * What the extraction model returns, read leniently: prose, fences and thinking around the JSON, an answer cut off in the
 * middle, other tools' names for the same fields, small integers for ids [F62]. The result is strictly typed; whether
 * anything of it may be stored is decided in `gates.ts`.
 */

import { withoutReasoning } from "../summary/state/answer.ts";
import { isRecord } from "../text/is-record.ts";
import { findObjects } from "../text/lenient-json.ts";
import { clampConfidence, SECTION_PATHS, type SectionPath } from "./document.ts";

export interface MemoryUpdate {
  readonly additions: readonly Addition[];
  readonly updates: readonly FactUpdate[];
  readonly removals: readonly Removal[];
  readonly sections: readonly SectionRewrite[];
}

export interface Addition {
  readonly content: string;
  readonly category: string;
  readonly confidence: number;
  /** The user's own words it rests on. */
  readonly quote: string;
  /** Numbers of the messages it comes from. */
  readonly seqs: readonly number[];
  /** What the model says of it: lasting or for this task only, about the user or about something else. */
  readonly durable: boolean;
  readonly aboutUser: boolean;
}

export interface FactUpdate extends Addition {
  /** The fact it takes the place of; null when the model named one that doesn't exist. */
  readonly id: string | null;
}

export interface Removal {
  readonly id: string | null;
  readonly quote: string;
}

export interface SectionRewrite {
  readonly path: SectionPath;
  readonly text: string;
  readonly confidence: number;
  /** The user's own words behind what is new in it; empty where the model names none. */
  readonly quote: string;
}

export type ParsedUpdate =
  | { readonly kind: "update"; readonly update: MemoryUpdate; readonly truncated: boolean }
  | { readonly kind: "unreadable"; readonly reason: "no-json" | "not-an-object" | "nothing-known" };

/** `ids`: which fact each small number of the prompt stands for. */
export function parseUpdate(answer: string, ids: ReadonlyMap<number, string>): ParsedUpdate {
  const text = withoutReasoning(answer);
  if (/^(?:```\w*\s*)?\[/.test(text.trim())) return { kind: "unreadable", reason: "not-an-object" };
  const objects = findObjects(text).filter(({ value }) => isRecord(value));
  // A model may show its work, or quote JSON, before it answers.
  const match = objects.find(({ value }) => isUpdate(value)) ?? objects.find(({ value }) => isEmpty(value));
  if (match === undefined) return { kind: "unreadable", reason: objects.length === 0 ? "no-json" : "nothing-known" };
  const fields = match.value as Readonly<Record<string, unknown>>;
  const update: MemoryUpdate = {
    additions: listOf(fields, ADDITIONS).map(readAddition),
    updates: listOf(fields, UPDATES).map((raw) => ({ ...readAddition(raw), id: readId(raw, ids) })),
    removals: listOf(fields, REMOVALS).map((raw) => ({ id: readId(raw, ids), quote: textOf(raw, "quote", "request") })),
    sections: readSections(fields),
  };
  return { kind: "update", update, truncated: match.truncated };
}

function isUpdate(value: object): boolean {
  return [...ADDITIONS, ...UPDATES, ...REMOVALS, ...SECTIONS].some((key) => Object.hasOwn(value, key));
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

const ADDITIONS = ["additions", "add", "newFacts", "new_facts", "facts"];
const UPDATES = ["updates", "update", "factsToUpdate"];
const REMOVALS = ["removals", "remove", "factsToRemove"];
const SECTIONS = ["sections", "userContext", "user", "history"];

function listOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): unknown[] {
  return names.flatMap((name) => (Array.isArray(fields[name]) ? fields[name] : []));
}

function readAddition(raw: unknown): Addition {
  const fields = isRecord(raw) ? raw : { content: raw };
  const about = textOf(fields, "about").toLowerCase();
  return {
    content: textOf(fields, "content", "text", "fact").trim(),
    category: textOf(fields, "category").trim() || "context",
    confidence: clampConfidence(fields["confidence"]),
    quote: textOf(fields, "quote", "source_quote", "evidence"),
    seqs: [fields["seqs"], fields["seq"], fields["sources"]].flat().map(Number).filter(Number.isSafeInteger),
    durable: fields["durable"] !== false && fields["durable"] !== "false",
    aboutUser: about === "" || about === "user",
  };
}

/** A number from the prompt's list, or a fact's own id; models write `1`, `"1"`, `"#1"` or `"[1]"`. */
function readId(raw: unknown, ids: ReadonlyMap<number, string>): string | null {
  const id = isRecord(raw) ? raw["id"] : raw;
  if (typeof id !== "string" && typeof id !== "number") return null;
  const number = /^\W*(\d+)\W*$/.exec(String(id))?.[1];
  const mapped = number === undefined ? undefined : ids.get(Number(number));
  return mapped ?? ([...ids.values()].includes(String(id)) ? String(id) : null);
}

function readSections(fields: Readonly<Record<string, unknown>>): SectionRewrite[] {
  const groups = SECTIONS.map((name) => fields[name]).filter(isRecord);
  const nested = groups.flatMap((group) => [group["userContext"], group["history"]].filter(isRecord));
  const rewrites = new Map<SectionPath, SectionRewrite>();
  for (const group of [...groups, ...nested]) {
    for (const path of SECTION_PATHS) {
      const raw = group[path] ?? group[path.slice(path.indexOf(".") + 1)];
      const section = typeof raw === "string" ? { text: raw } : raw;
      if (!isRecord(section) || section["shouldUpdate"] === false) continue;
      const confidence = section["confidence"] === undefined ? 1 : clampConfidence(section["confidence"]);
      const quote = textOf(section, "quote", "source_quote", "evidence");
      rewrites.set(path, { path, text: textOf(section, "text", "summary", "content").trim(), confidence, quote });
    }
  }
  return [...rewrites.values()];
}

function textOf(raw: unknown, ...names: readonly string[]): string {
  if (!isRecord(raw)) return "";
  for (const name of names) if (typeof raw[name] === "string") return raw[name];
  return "";
}
