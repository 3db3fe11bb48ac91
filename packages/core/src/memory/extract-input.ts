/**
 * What of a conversation may be read for facts: the user's own words, and the final answers as context. Tool traffic,
 * injected text, uploads, summaries and recalled text never get here [F36] [F53]; turns that can't hold a fact are
 * recognized without a model.
 */
import type { MessageRecord, Origin } from "../log/record.ts";
import { shapeOf } from "../message/dialects.ts";
import { NOT_OWN, ownWords } from "../text/own-words.ts";
import type { NamedTurn } from "./bindings.ts";

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
  /** Imported words may be anybody's: nothing is learned from them unless who imported them asked for it. */
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

/** Without what the user only shows or reports: it may be anybody's words. */
function withoutQuoted(text: string): string {
  return ownWords(text, { quotes: "reported", paragraphs: "open" }).replaceAll(NOT_OWN_RUN, "\n");
}

const NOT_OWN_RUN = new RegExp(`${NOT_OWN}[${NOT_OWN}\\s]*`, "g");

/** Acknowledgements, commands to the program and texts without a word. */
export function isTrivial(text: string): boolean {
  const words = text
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
  const shape = shapeOf(record.dialect);
  const message = parsed(record.body) as never;
  if (message === null) return null;
  const role = shape.role(message);
  // Text beside a tool's results comes from a program, whatever the role says.
  if (role === "user" && USER_ORIGINS.has(record.origin))
    return said("user", withoutQuoted(stripInjected(textOf(shape.parts(message)))));
  if (role !== "assistant" || !ANSWER_ORIGINS.has(record.origin) || shape.calls(message).length > 0) return null;
  return said("assistant", textOf(shape.parts(message)));
}

function said(role: SourceTurn["role"], text: string): { role: SourceTurn["role"]; text: string } | null {
  return text.trim() === "" ? null : { role, text: text.trim() };
}

function textOf(parts: readonly { readonly kind: string; readonly text?: string }[]): string {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text ?? ""] : [])).join("\n");
}

function parsed(body: string): object | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}

/** Of several answers in a row only the last was final. */
function lastAnswers(turns: readonly SourceTurn[]): SourceTurn[] {
  return turns.filter(({ role }, index) => role === "user" || turns[index + 1]?.role !== "assistant");
}
