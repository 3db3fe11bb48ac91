/**
 * What a log has, read: loaded whole, or only what was added to what is known, and each body in the dialect that the thread
 * is opened in. A log with a hole in it is not gone on with.
 */

import {
  type Head,
  type LiveRecords,
  type LogRecord,
  link,
  liveAfterAll,
  liveRecords,
  type MessageRecord,
  type ThreadHeader,
  type UsageRecord,
} from "@palimpsest/core/internal/log";
import { readStoredAs, type Shape } from "@palimpsest/core/internal/message";
import { seqOf } from "../stores/driver-rules.ts";
import type { ThreadLoad } from "../stores/store.ts";
import { StoreError } from "../stores/store-error.ts";
import type { Writer } from "./writer.ts";

export interface LoadedThread {
  readonly header: ThreadHeader;
  readonly head: Head;
  readonly live: LiveRecords;
  /** Null where not all of the log that is visible was read. */
  readonly reports: readonly UsageRecord[] | null;
}

export interface LoadedNow {
  readonly moved: "current" | "grown" | "reread";
  /** Null: there is no such thread. */
  readonly now: LoadedThread | null;
}

export async function loadedNow(writer: Writer, id: string, known: LoadedThread | null): Promise<LoadedNow> {
  const now = known === null ? null : await grownFrom(writer, id, known);
  if (known === null || now === null) return { moved: "reread", now: await loadWhole(writer, id) };
  return { moved: now.head.version === known.head.version ? "current" : "grown", now };
}

/**
 * Where the log stands now, if it is the same one grown on: the chain says so. Null when it has to be read anew: it is
 * another log, something was taken back, or words were erased.
 */
async function grownFrom({ store, hash }: Writer, id: string, known: LoadedThread): Promise<LoadedThread | null> {
  const { version } = known.head;
  const head = await store.head(id);
  if (head === undefined || version === 0 || head.version < version) return null;
  const added: Exclude<LogRecord, { kind: "undo" }>[] = [];
  let last = known.head.hash;
  if (head.version > version) {
    for await (const { record, chained } of store.records(id, { range: [version + 1, head.version] })) {
      if (record.kind === "undo" || (record.kind === "event" && record.event.type === "redacted")) return null;
      last = link(last, chained.header, chained.bodyHash, hash);
      added.push(record);
    }
  }
  const live = liveAfterAll(known.live, added);
  return last === head.hash ? { header: known.header, head, live, reports: null } : null;
}

async function loadWhole({ store }: Writer, id: string): Promise<LoadedThread | null> {
  const loaded = await store.load(id);
  if (loaded === undefined) return null;
  assertWhole(loaded);
  return loadedThread(loaded);
}

export function loadedThread({ header, head, records: stored }: ThreadLoad): LoadedThread {
  const records = stored.map(({ record }) => record);
  const reports = records.filter((record) => record.kind === "usage").filter(({ seq }) => seq > head.hiddenThrough);
  return { header, head, live: liveRecords(head, records), reports };
}

/** Going on from a log with a hole would bury the damage under new records. */
function assertWhole(loaded: ThreadLoad): void {
  const damage = damageOf(loaded);
  if (damage !== null) throw new StoreError("corrupt", damage.message);
}

/** A body in another dialect than the thread's is converted; where that takes several messages they are joined. */
export function readBody<M>(record: MessageRecord, shape: Shape<M>): M {
  const message = inDialect(record, shape);
  const isUsers = record.origin !== "import" && record.origin !== "tool";
  return shape.dialect !== "ai-sdk" || isUsers ? message : withoutAddresses(message);
}

function inDialect<M>(record: MessageRecord, shape: Shape<M>): M {
  const [first, ...rest] = readStoredAs(record, shape);
  return rest.reduce<M>((joined, next) => shape.join(joined, next), first ?? shape.turn("user", ""));
}

// The AI SDK fetches a file that a message names by its address, from wherever this program runs. So only the user may name
// one: of what an import or a tool brings, the address stays as text.

/** Of an AI SDK message; the same object where it names none. */
export function withoutAddresses<M>(message: M): M {
  return replaced(message, "content", (content) => eachReplaced(content, withoutAddress));
}

function withoutAddress(part: unknown): unknown {
  const type = fieldOf(part, "type");
  if (type === "tool-result")
    return replaced(part, "output", (output) =>
      replaced(output, "value", (parts) => eachReplaced(parts, withoutAddress)),
    );
  if (typeof type !== "string" || !FILE_PARTS.has(type)) return part;
  const address = ["data", "image", "url"].map((name) => addressIn(fieldOf(part, name))).find((one) => one !== null);
  return address === undefined
    ? part
    : { type: "text", text: `[a file at ${address.slice(0, 300)}, which was not fetched]` };
}

const FILE_PARTS: ReadonlySet<string> = new Set([
  "file",
  "image",
  "media",
  "file-data",
  "image-data",
  "file-url",
  "image-url",
  "reasoning-file",
]);

/** As a text, a URL object, or one of the tagged forms; null: it comes with its content. Base64 has no colon. */
function addressIn(value: unknown): string | null {
  if (typeof value === "string") return /^(?!data:)[a-z][a-z0-9+.-]*:/i.test(value.trim()) ? value.trim() : null;
  const named = fieldOf(value, "href") ?? fieldOf(value, "url");
  return named === undefined ? null : addressIn(named);
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function replaced<T>(value: T, name: string, change: (field: unknown) => unknown): T {
  const before = fieldOf(value, name);
  const after = change(before);
  return after === before ? value : { ...value, [name]: after };
}

function eachReplaced(list: unknown, change: (one: unknown) => unknown): unknown {
  if (!Array.isArray(list)) return list;
  const changed = list.map(change);
  return changed.every((one, index) => one === list[index]) ? list : changed;
}

// Whether what a load brought is all that the head says there is. Hashes are `verify`'s business; a gap shows at once.

export interface Damage {
  /** The first record that is missing. */
  readonly seq: number;
  readonly message: string;
}

/** Only of what the view is made from: records hidden behind a summary aren't loaded. */
export function damageOf({ header, head, records }: ThreadLoad): Damage | null {
  const tail = records.filter((stored) => seqOf(stored) > head.hiddenThrough);
  let seq = head.hiddenThrough + 1;
  for (const stored of tail) {
    if (seqOf(stored) !== seq) return missing(header.id, seq);
    seq += 1;
  }
  if (seq <= head.version) return missing(header.id, seq);
  const last = tail.at(-1)?.chained;
  return last !== undefined && last.hash !== head.hash ? missing(header.id, head.version) : null;
}

function missing(threadId: string, seq: number): Damage {
  return {
    seq,
    message:
      `thread ${threadId} is damaged: record ${seq} is missing or not what it was. \`palimpsest verify ${threadId}\` names the damage; ` +
      `restore a backup, or fork the thread at ${seq - 1}.`,
  };
}
