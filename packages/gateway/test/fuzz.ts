/**
 * Random requests made of `/openapi.json`: right ones, nearly right ones and nonsense, with every kind of key. What must
 * hold: no answer of 500, every error in the shape it is described in, every request answered.
 */
import type { TestContext } from "node:test";
import { type ApiDocument, type Operation, operationsOf } from "./api-client.ts";
import { world } from "./examples.ts";
import { sent } from "./running.ts";

export interface Fuzzed {
  readonly requests: number;
  /** How many answers of each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** What must not be, in words. */
  readonly faults: readonly string[];
  /** Bytes of the heap after a collection: after a tenth of the requests, and at the end. */
  readonly heap: readonly [number, number];
}

export async function fuzz(t: TestContext, { requests, seed }: { requests: number; seed: number }): Promise<Fuzzed> {
  // Unread lines would look like growth.
  const at = await world(t, { log: () => {} });
  const document = JSON.parse((await at.ask("GET", "/openapi.json", "bob")).text) as ApiDocument;
  // What streams until its reader leaves has no end to wait for.
  const operations = operationsOf(document).filter(({ path }) => path !== "/api/changes");
  const chance = random(seed);
  const statuses: Record<string, number> = {};
  const faults: string[] = [];
  const known = {
    id: ["t", "t-1", "new", "fork"],
    fact: ["none"],
    run: ["none"],
    key: ["key_0"],
    name: ["a.txt", "birds"],
  };
  let early = 0;
  for (let count = 0; count < requests; count += 1) {
    if (count === Math.floor(requests / 10)) early = collected();
    const operation = chance.pick(operations);
    const request = requestFor(operation, { chance, known, keys: Object.values(at.keys) });
    const name = `${operation.method} ${request.path} ${request.body ?? ""}`.slice(0, 400);
    try {
      const { status, text, headers } = await answeredInTime(sent(at, request.path, request));
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 500) faults.push(`500: ${name}`);
      if (status >= 400 && !isError(text)) faults.push(`no error in ${status}: ${name}: ${text.slice(0, 100)}`);
      if (headers["x-request-id"] === undefined) faults.push(`no request id: ${name}`);
      remember(text, known);
    } catch (error) {
      faults.push(`${String(error)}: ${name}`);
    }
  }
  return { requests, statuses, faults, heap: [early, collected()] };
}

/** Ids that answers name are used in later requests. */
function remember(text: string, known: Record<string, string[]>): void {
  for (const [kind, pattern] of Object.entries({
    id: /"thread":"([^"]{1,60})"/,
    run: /"run":"([^"]{1,60})"/,
    fact: /"id":"(fact[^"]{1,60})"/,
  })) {
    const found = pattern.exec(text)?.[1];
    const names = known[kind]!;
    if (found === undefined || names.includes(found)) continue;
    names.push(found);
    if (names.length > 30) names.splice(4, 1);
  }
}

function isError(text: string): boolean {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } };
    return typeof error?.code === "string" && typeof error.message === "string";
  } catch {
    return false;
  }
}

function answeredInTime<T>(answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("no answer within a minute")), 60_000);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}

function collected(): number {
  for (let round = 0; round < 3; round += 1) (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
}

interface Made {
  readonly chance: Chance;
  readonly known: Readonly<Record<string, readonly string[]>>;
  readonly keys: readonly string[];
}

function requestFor(operation: Operation, made: Made) {
  const { chance, known, keys } = made;
  const { method, path, parameters, requestBody } = operation;
  const value = (name: string) => (chance.below(0.7) ? chance.pick(known[name] ?? ["1"]) : chance.pick(HOSTILE));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    chance.below(0.9) ? encodeURIComponent(value(name).toWellFormed()) : chance.pick(RAW),
  );
  const query = parameters
    .filter((one) => one.in === "query" && chance.below(0.5))
    .map((one) => `${one.name}=${encodeURIComponent(String(sample(one.schema as Schema, chance, 0)).toWellFormed())}`);
  if (chance.below(0.05)) query.push(chance.pick(["limit=5&limit=6", "%", "x=%00", "a[b]=c", "__proto__=1"]));
  const types = Object.entries(requestBody?.content ?? {});
  const [type, content] = types.length === 0 ? [undefined, undefined] : chance.pick(types);
  const text = content === undefined ? undefined : bodyOf(type!, content.schema as Schema, chance);
  return {
    path: `${filled}${query.length === 0 ? "" : `?${query.join("&")}`}`,
    method: chance.below(0.97) ? method : chance.pick(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
    headers: {
      ...(chance.below(0.95) && { authorization: `Bearer ${chance.pick(keys)}` }),
      ...(chance.below(0.9) && type !== undefined && { "content-type": type }),
      ...(chance.below(0.3) && { "x-palimpsest-user": chance.pick(["ada", "default", "x", "%00"]) }),
      ...(chance.below(0.05) && { "last-event-id": chance.pick(["1", "x", "-1", "9".repeat(30)]) }),
    },
    ...(text !== undefined && { body: text }),
  };
}

type Schema = Readonly<Record<string, unknown>>;

function bodyOf(type: string, schema: Schema, chance: Chance): string {
  if (type !== "application/json") return chance.pick(TEXTS);
  if (chance.below(0.05))
    return chance.pick(["{", "[]", "null", '"x"', "{}".repeat(50), `${"[".repeat(2000)}${"]".repeat(2000)}`]);
  const value = sample(schema, chance, 0);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
  // Deleting everything would end the game.
  const { user: _, ...rest } = value as Record<string, unknown>;
  const unknown = chance.below(0.1) ? { [chance.pick(["color", "__proto__", "constructor"])]: 1 } : {};
  return JSON.stringify({ ...rest, ...unknown });
}

/** Mostly what the schema says, sometimes anything. */
function sample(schema: Schema, chance: Chance, depth: number): unknown {
  if (chance.below(0.12) || depth > 4) return chance.pick(ANYTHING);
  const choices = (schema["anyOf"] ?? schema["oneOf"]) as readonly Schema[] | undefined;
  if (choices !== undefined) return sample(chance.pick(choices), chance, depth + 1);
  if (schema["const"] !== undefined) return schema["const"];
  if (Array.isArray(schema["enum"])) return chance.pick(schema["enum"]);
  switch (schema["type"]) {
    case "object": {
      const properties = Object.entries((schema["properties"] ?? {}) as Record<string, Schema>);
      const required = (schema["required"] ?? []) as readonly string[];
      const kept = properties.filter(([name]) => chance.below(required.includes(name) ? 0.95 : 0.5));
      return Object.fromEntries(kept.map(([name, inner]) => [name, sample(inner, chance, depth + 1)]));
    }
    case "array":
      return Array.from({ length: chance.whole(4) }, () =>
        sample((schema["items"] ?? {}) as Schema, chance, depth + 1),
      );
    case "integer":
    case "number":
      return chance.pick([0, 1, 2, 3, 7, 50, 3600, -1, 0.5, 1e9, Number.MAX_SAFE_INTEGER]);
    case "boolean":
      return chance.below(0.5);
    case "string":
      return chance.pick([...STRINGS, ...HOSTILE]);
    default:
      return chance.pick(ANYTHING);
  }
}

const STRINGS = [
  "user",
  "assistant",
  "Watch the heron",
  "t",
  "new",
  "offline",
  "1",
  "5",
  "true",
  "text",
  "x".repeat(300),
];
const HOSTILE = [
  "",
  ".",
  "..",
  "../x",
  "a/b",
  "%2e%2e",
  "\0",
  "\r\nx: y",
  "😀",
  "\ud800",
  "__proto__",
  "NaN",
  "x".repeat(3000),
  "'; drop table records;--",
];
const RAW = ["..", "%2e%2e%2f", "%00", "%E0%A4", "a%2Fb", ";", "%", "%25", "//"];
const ANYTHING: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e300,
  "",
  "x",
  [],
  {},
  [[]],
  { a: { b: {} } },
  "😀".repeat(200),
  ["x"],
];
const TEXTS = [
  "",
  "x",
  "{",
  '{"role":"user","content":"Which river?"}\n{"role":"assistant","content":"The Danube."}\n',
  '{"role":"user","content":7}\n',
  '[{"role":"user"}]',
  "\ufeff\0\n",
  "--x\r\ncontent-disposition: form-data; name=f; filename=a.txt\r\n\r\nhi\r\n--x--\r\n",
  "<p>page</p>",
];

interface Chance {
  below(share: number): boolean;
  whole(under: number): number;
  pick<T>(of: readonly T[]): T;
}

/** The same for the same seed (mulberry32). */
function random(seed: number): Chance {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const whole = (under: number) => Math.floor(next() * under);
  return { below: (share) => next() < share, whole, pick: (of) => of[whole(of.length)]! };
}
