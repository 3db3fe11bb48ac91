/**
 * Ids in a request that name objects of an account with a provider: files, containers, vector stores, stored answers. The
 * account does not know our users, so with the operator's key an id may be another user's. Looks everywhere but into arguments and
 * schemas of the client's tools and the provider's own reports. Reasoning is let through by its id: clients repeat it without
 * its content, and it can't be read. Pure.
 */
import { isRecord } from "@palimpsest/core/internal/text";
import { fieldsOf, type JsonFields, listIn } from "../http/read-json.ts";

/** By the provider's own path to them, below `/v1`. */
export type AccountKind =
  | "files"
  | "vector_stores"
  | "containers"
  | "skills"
  | "chat/completions"
  | "messages"
  | "responses"
  | "conversations";

/** The kinds of objects that the body names, at any depth. */
export function* heldSteps(body: JsonFields): Generator<void, ReadonlySet<AccountKind>> {
  const kinds = new Set<AccountKind>();
  if (listIn(body["input"]).some(isItemReference)) kinds.add("conversations");
  const open: unknown[] = [body];
  for (let count = 1; open.length > 0; count += 1) {
    if (count % STEP === 0) yield;
    const value = open.pop();
    if (Array.isArray(value)) for (const item of value) open.push(item);
    if (!isRecord(value) || REPORTED.test(String(value["type"]))) continue;
    for (const [name, inside] of Object.entries(value)) {
      if (inside == null || isClients(name, value)) continue;
      const kind = ID_FIELDS.get(name) ?? (names(name, inside) ? HOLDERS.get(name) : undefined);
      // Skills of Anthropic itself belong to no account.
      if (kind !== undefined && !(kind === "skills" && value["type"] === "anthropic")) kinds.add(kind);
      if (typeof inside === "object") open.push(inside);
    }
  }
  return kinds;
}

/** Values that are looked at in one step. */
const STEP = 1000;

/** Fields whose value is an id, or a list of ids. */
const ID_FIELDS: ReadonlyMap<string, AccountKind> = new Map([
  ["file_id", "files"],
  ["file_ids", "files"],
  ["vector_store_ids", "vector_stores"],
  ["container_id", "containers"],
  ["skill_id", "skills"],
]);

/** Fields whose value is an object with an `id`, or the id itself. */
const HOLDERS: ReadonlyMap<string, AccountKind> = new Map([
  ["container", "containers"],
  ["audio", "chat/completions"],
]);

function names(holder: string, inside: unknown): boolean {
  return isRecord(inside) ? inside["id"] != null : holder === "container" && !Array.isArray(inside);
}

/** Words of the client or its tools in which any name may stand, and the provider's own report of what it used. */
function isClients(name: string, { type }: JsonFields): boolean {
  return CLIENTS_FIELDS.has(name) || (name === "input" && String(type).endsWith("tool_use"));
}

const CLIENTS_FIELDS: ReadonlySet<string> = new Set(
  "input_schema output_schema input_examples parameters schema metadata annotations citations results".split(" "),
);

/** A file that Anthropic's sandbox wrote: the client repeats it, and nothing is read from it. */
const REPORTED = /code_execution_output$/;

/** An input item that is only named. OpenAI also takes a reference without a type, and a picture without its data. */
export function isItemReference(item: unknown): boolean {
  const { type, id, content, result } = fieldsOf(item);
  if (type === "item_reference") return true;
  if (type === "image_generation_call") return id != null && !result;
  return type == null && id != null && content == null;
}

/** A conversation before this one that the provider looks up; null if the request names none. */
export function referenceIn(body: JsonFields): AccountKind | null {
  if (body["previous_response_id"] != null) return "responses";
  if (body["conversation"] != null) return "conversations";
  return fieldsOf(body["thread"])["previous_message_id"] == null ? null : "messages";
}

/** False: none of the words is there, also not with one of its letters escaped. Bodies are long, and this is fast. */
export function mayName(bytes: Buffer): boolean {
  const isNamed = (word: string): boolean => bytes.includes(word);
  return WORDS.some(isNamed) || (isNamed(ESCAPE) && ESCAPED.some(isNamed));
}

const WORDS = [
  '"id"',
  "file_id",
  "vector_store_ids",
  "container",
  "skill_id",
  "item_reference",
  "previous_response_id",
  "previous_message_id",
  "conversation",
];
/** What any escaped character of these words begins with, and with its first digit. */
const ESCAPE = "\\u00";
const ESCAPED = ["2", "3", "4", "5", "6", "7"].map((digit) => `${ESCAPE}${digit}`);
