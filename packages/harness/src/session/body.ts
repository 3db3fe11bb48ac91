/**
 * Values on their way into the log, as JSON that reads back the same: bytes become base64, URLs text, big integers their
 * digits. `JSON.stringify` alone would turn bytes into an object of numbers and throw on a big integer.
 */

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
