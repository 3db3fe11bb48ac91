/**
 * What the extraction model returns, read leniently: prose, fences and thinking around the JSON, an answer cut off in the
 * middle, other tools' names for the same fields, small integers for ids [F62]. The result is strictly typed; whether
 * anything of it may be stored is decided in `gates.ts`.
 */
import type { MessageRecord, Origin } from "../log/record.ts";
import { shapeOf } from "../message/dialects.ts";
import { jsonOr } from "../message/schema.ts";
import { withoutReasoning } from "../summary/patch.ts";
import { findObjects } from "../text/lenient-json.ts";
import { isRecord } from "../text/names.ts";
import { NOT_OWN, ownWords } from "../text/words.ts";
import type { NamedTurn } from "./bindings.ts";
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

/*
 * What of a conversation may be read for facts: the user's own words, and the final answers as context. Tool traffic,
 * injected text, uploads, summaries and recalled text never get here [F36] [F53]; turns that can't hold a fact are
 * recognized without a model.
 */

export interface SourceTurn {
  readonly seq: number;
  /** `thread#seq`, as facts refer to it, and the message's own id. */
  readonly ref: string;
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly at: string;
  readonly text: string;
}

export interface ExtractInput {
  readonly turns: readonly SourceTurn[];
  /** `trivial`: nothing in it is worth a model call. */
  readonly content: "informative" | "trivial";
}

export interface ExtractOptions {
  readonly threadId: string;
  /** Whether nothing may be learned from a turn any more. */
  readonly fenced?: (turn: NamedTurn) => boolean;
  /** `learn` only if the importer asked for it: imported words may be someone else's. */
  readonly imports?: "learn" | "skip";
}

export function extractInput(records: readonly MessageRecord[], options: ExtractOptions): ExtractInput {
  const turns: SourceTurn[] = [];
  for (const record of records) {
    const ref = `${options.threadId}#${record.seq}`;
    if (options.fenced?.({ ref, id: record.id }) || (record.origin === "import" && options.imports !== "learn"))
      continue;
    const turn = turnOf(record);
    if (turn !== null) turns.push({ seq: record.seq, ref, id: record.id, at: record.at, ...turn });
  }
  const told = turns.some(({ role, text }) => role === "user" && !isTrivial(text));
  return { turns: lastAnswers(turns), content: told ? "informative" : "trivial" };
}

/** A user's words without what programs put between them. */
export function stripInjected(text: string): string {
  let rest = text;
  for (const block of INJECTED_BLOCKS) rest = rest.replace(block, " ");
  return INJECTED_TURNS.some((opening) => rest.trimStart().startsWith(opening)) ? "" : rest.trim();
}

/** Without quoted or reported words, which may be someone else's. */
function withoutQuoted(text: string): string {
  return ownWords(text, { quotes: "reported", paragraphs: "open" }).replaceAll(NOT_OWN_RUN, "\n");
}

const NOT_OWN_RUN = new RegExp(`${NOT_OWN}[${NOT_OWN}\\s]*`, "g");

/** Acknowledgements, commands to the program and texts without a word. */
export function isTrivial(text: string): boolean {
  const words = text
    .slice(0, 1_000)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s']/gu, " ")
    .trim()
    .split(/\s+/)
    .filter(Boolean);
  if (!/\p{L}/u.test(text) || /^\/\w+/.test(text.trim())) return true;
  return words.length <= 6 && words.every((word) => ACKNOWLEDGING.has(word));
}

const INJECTED_BLOCKS = [
  "memory",
  "evidence",
  "recall",
  "recalled",
  "skills",
  "system-reminder",
  "system",
  "uploaded_files",
  "uploads",
  "current_uploads",
  "upload",
  "file",
  "files",
  "document",
  "documents",
  "attachment",
  "attachments",
  "context",
  "tool_result",
  "summary",
].map((tag) => new RegExp(`<${tag}\\b[^<>]*>[\\s\\S]*?(?:</${tag}\\s*>|$)`, "gi"));

const INJECTED_TURNS = ["Here is a summary of the conversation to date:", "Summary of the conversation so far"];

const ACKNOWLEDGING: ReadonlySet<string> = new Set(
  `ok okay k yes yeah yep yup no nope sure thanks thank you thx ty please great good nice cool perfect fine done right correct
  continue go on ahead next more again stop wait hi hello hey bye goodbye morning evening very much lol haha wow hm hmm
  ja nein danke bitte gut weiter super klar genau hallo merci oui non bien d'accord gracias s\u00ed si no vale hola
  \u597d \u597d\u7684 \u662f \u4e0d \u8c22\u8c22 \u7ee7\u7eed \u55ef`.split(/\s+/),
);

const USER_ORIGINS: ReadonlySet<Origin> = new Set(["user", "import"]);
const ANSWER_ORIGINS: ReadonlySet<Origin> = new Set(["model", "import"]);

function turnOf(record: MessageRecord): { role: SourceTurn["role"]; text: string } | null {
  const shape = shapeOf<object>(record.dialect);
  const message = parsed(record.body);
  if (message === null) return null;
  const role = shape.role(message);
  // A name says that somebody else speaks: another participant, or a program in the user's role.
  if (role === "user" && "name" in message && typeof message.name === "string" && message.name.trim() !== "")
    return null;
  // Text beside a tool's results comes from a program, whatever the role says.
  if (role === "user" && USER_ORIGINS.has(record.origin))
    return said("user", withoutQuoted(stripInjected(wordsOf(shape.parts(message)))));
  if (role !== "assistant" || !ANSWER_ORIGINS.has(record.origin) || shape.calls(message).length > 0) return null;
  return said("assistant", wordsOf(shape.parts(message)));
}

function said(role: SourceTurn["role"], text: string): { role: SourceTurn["role"]; text: string } | null {
  return text.trim() === "" ? null : { role, text: text.trim() };
}

function wordsOf(parts: readonly { readonly kind: string; readonly text?: string }[]): string {
  const words = parts.flatMap((part) => (part.kind === "text" ? [part.text ?? ""] : [])).join("\n");
  return words.slice(0, MAX_READ);
}

/** Of one message, in characters: what follows is a paste, not something told. */
const MAX_READ = 200_000;

function parsed(body: string): object | null {
  const value = jsonOr(body, null);
  return typeof value === "object" && value !== null ? value : null;
}

/** Of several answers in a row only the last was final. */
function lastAnswers(turns: readonly SourceTurn[]): SourceTurn[] {
  return turns.filter(({ role }, index) => role === "user" || turns[index + 1]?.role !== "assistant");
}
