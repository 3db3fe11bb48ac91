/**
 * Messages and other values on their way into the log. What a loop gives to its thread is checked at the boundary. Values
 * become JSON that reads back the same: bytes base64, URLs text, big integers their digits; `JSON.stringify` alone would
 * turn bytes into an object of numbers and throw on a big integer.
 */
import { readMessage } from "@palimpsest/core/internal/message";
import type { MessageRecord, Origin } from "@palimpsest/core/log";
import type { Dialect, Role, Shape } from "@palimpsest/core/message";
import { ThreadError } from "./thread-error.ts";

/** A message under an id of its own: given again, it is passed over. */
export interface IdentifiedMessage<M> {
  readonly message: M;
  /** Without one it is new each time. */
  readonly id?: string | undefined;
  /** By default what its role says; `aborted` for an answer that was cut off. */
  readonly origin?: Origin | undefined;
}

export type GivenMessage<M> = M | IdentifiedMessage<M>;

export interface ReadGiven {
  readonly id: string | null;
  readonly role: Role;
  readonly record: Pick<MessageRecord, "kind" | "dialect" | "origin" | "body">;
}

/** Throws a `ThreadError` that names the first message the shape can't read. */
export function readGiven<M extends object>(given: readonly GivenMessage<M>[], shape: Shape<M>): readonly ReadGiven[] {
  // Opening has checked that it is one of ours.
  const dialect = shape.dialect as Dialect;
  return given.map((one, index) => {
    const { message, id = null, origin } = isIdentified(one) ? one : { message: one };
    const body = bodyOf(message);
    const read = readMessage(dialect, JSON.parse(body));
    if (read.kind === "problem")
      throw new ThreadError("bad-message", `message ${index + 1} can't be appended: ${read.detail}`);
    const role = shape.role(read.message as unknown as M);
    return { id, role, record: { kind: "message", dialect, origin: origin ?? ORIGINS[role], body } };
  });
}

/** No dialect has a message inside a message. */
function isIdentified<M extends object>(given: GivenMessage<M>): given is IdentifiedMessage<M> {
  return "message" in given && typeof given.message === "object" && given.message !== null;
}

const ORIGINS = { user: "user", assistant: "model", tool: "tool", system: "injected" } as const;

/** Throws only for what has no JSON at all: a value that contains itself. */
export function bodyOf(value: unknown): string {
  return JSON.stringify(plain(value, new Set())) ?? "null";
}

/** The same value with everything JSON can't hold replaced. */
export function jsonOf(value: unknown): unknown {
  return JSON.parse(bodyOf(value));
}

function plain(value: unknown, parents: Set<object>): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString("base64");
  if (value instanceof URL) return value.href;
  if (value instanceof Error) return { name: value.name, message: value.message };
  if ("toJSON" in value && typeof value.toJSON === "function") return plain(value.toJSON(), parents);
  if (parents.has(value)) throw new TypeError("the value contains itself and can't be written as JSON");
  parents.add(value);
  const written = children(value, parents);
  parents.delete(value);
  return written;
}

function children(value: object, parents: Set<object>): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, parents) ?? null);
  if (value instanceof Set) return [...value].map((item) => plain(item, parents) ?? null);
  const entries =
    value instanceof Map ? [...value].map(([key, item]) => [keyText(key, parents), item]) : Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [key, plain(item, parents)]));
}

/** A key that is itself an object may have no text of its own. */
function keyText(key: unknown, parents: Set<object>): string {
  return typeof key === "object" && key !== null ? (JSON.stringify(plain(key, parents)) ?? "") : String(key);
}
