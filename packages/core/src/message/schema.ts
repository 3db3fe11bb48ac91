/**
 * Small checks that compose into what a dialect's messages must hold so that its shape can read them. A check returns
 * null, or one sentence that names the place and what was expected. Kinds and fields not listed are never checked.
 */
import { isRecord } from "../text/values.ts";
import type { MessageProblem } from "./dialects.ts";

export type Fields = Readonly<Record<string, unknown>>;

export type Check = (value: unknown, at: string) => string | null;

export const string: Check = (value, at) => (typeof value === "string" ? null : expected("a string", value, at));

export const optional =
  (check: Check): Check =>
  (value, at) =>
    value == null ? null : check(value, at);

export const fields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, at) => {
    if (!isRecord(value)) return expected("an object", value, at);
    for (const [name, check] of Object.entries(checks)) {
      const wrong = check(value[name], at === "" ? name : `${at}.${name}`);
      if (wrong !== null) return wrong;
    }
    return null;
  };

export const list =
  (check: Check): Check =>
  (value, at) => {
    if (!Array.isArray(value)) return expected("a list", value, at);
    for (const [index, item] of value.entries()) {
      const wrong = check(item, `${at}[${index}]`);
      if (wrong !== null) return wrong;
    }
    return null;
  };

export const expected = (what: string, value: unknown, at: string): string => `${at} is ${nameOf(value)}, not ${what}`;

const nameOf = (value: unknown): string =>
  value === null ? "null" : value === undefined ? "missing" : Array.isArray(value) ? "a list" : `a ${typeof value}`;

/** An object with a type; a type that isn't listed may hold anything. */
export const typed =
  (kinds: Readonly<Record<string, Check>>): Check =>
  (value, at) => {
    const type = isRecord(value) ? value["type"] : undefined;
    if (typeof type !== "string") return expected("an object with a type", value, at);
    return Object.hasOwn(kinds, type) ? kinds[type]!(value, at) : null;
  };

export const textOr =
  (check: Check): Check =>
  (value, at) =>
    typeof value === "string" ? null : check(value, at);

/** The messages of a dialect that has a role and content: what each role may be, and what its content may be. */
interface MessageSchema {
  readonly name: string;
  readonly roles: readonly string[];
  readonly block: Check;
  /** By role, where content isn't both text and a list of blocks. */
  readonly content?: (role: string) => "text" | "list" | "either";
  /** Whether a message without content says something all the same. */
  readonly speaksWithout?: (value: Fields) => boolean;
  readonly fields?: (role: string) => Check;
}

export const messageCheck =
  (schema: MessageSchema) =>
  (value: unknown): MessageProblem | null => {
    if (!isRecord(value)) return notAnObject(value);
    const { role, content } = value;
    const wrongRole = roleProblem(role, schema);
    if (wrongRole !== null) return wrongRole;
    const form = schema.content?.(String(role)) ?? "either";
    const isWanted = (form !== "list" && typeof content === "string") || (form !== "text" && Array.isArray(content));
    if (!isWanted && !(content == null && schema.speaksWithout?.(value))) {
      const what = form === "list" ? "a list of blocks" : "text or a list of blocks";
      return { problem: "bad-content", detail: expected(what, content, "content") };
    }
    const block = Array.isArray(content) ? list(schema.block)(content, "content") : null;
    if (block !== null) return { problem: "bad-block", detail: block };
    const field = schema.fields?.(String(role))(value, "") ?? null;
    return field === null ? null : { problem: "bad-field", detail: field };
  };

export const notAnObject = (value: unknown): MessageProblem => ({
  problem: "not-an-object",
  detail: `the message is ${nameOf(value)}, not an object`,
});

export function roleProblem(
  role: unknown,
  { name, roles }: Pick<MessageSchema, "name" | "roles">,
): MessageProblem | null {
  if (typeof role === "string" && roles.includes(role)) return null;
  const roleText = typeof role === "string" ? JSON.stringify(role.slice(0, 40)) : nameOf(role);
  return { problem: "unknown-role", detail: `role is ${roleText}; ${name} messages have ${roles.join(", ")}` };
}

/** The first block whose type isn't among these. */
export function strangeBlock(
  blocks: unknown,
  { name, types, at = "content" }: { readonly name: string; readonly types: readonly string[]; readonly at?: string },
): string | null {
  const blockTypes = (Array.isArray(blocks) ? blocks : []).map((block) =>
    isRecord(block) ? String(block["type"]) : "",
  );
  const strange = blockTypes.findIndex((type) => !types.some((pattern) => pattern === type || isFamily(pattern, type)));
  return strange === -1
    ? null
    : `${at}[${strange}] has the unknown type "${blockTypes[strange]}"; ${name} knows ${types.join(", ")}`;
}

/** `*_tool_result`: every type that ends so. */
const isFamily = (pattern: string, type: string): boolean => pattern.startsWith("*") && type.endsWith(pattern.slice(1));

/** The first of the blocks for which there is a word, and its type. */
export function markedBlock(blocks: unknown, isMark: (block: Fields) => boolean): string | null {
  const block = (Array.isArray(blocks) ? blocks : []).find((one) => isRecord(one) && isMark(one));
  return block === undefined ? null : `a block of type ${String(block.type)}`;
}

/**
 * How deep JSON may be nested before it is treated as text: values are walked and written recursively, and a
 * stack that overflows once would overflow at every later turn of its thread.
 */

const MOST_NESTED = 500;

/** Counts brackets outside of strings; takes text that is JSON, and any other. */
export function isNestedTooDeeply(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    if (depth > MOST_NESTED) return true;
  }
  return false;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
