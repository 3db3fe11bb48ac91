/**
 * An open conversation: one thread's live records, loaded once and folded forward with every commit, read through one
 * message shape. Message objects are kept while they are visible, so that counts stay cached. It appends by
 * compare-and-set on the head it knows; what is not appended has not happened.
 */
import { link, liveAfterAll, liveRecords, readRules, rulesInForce, view } from "@palimpsest/core/internal/log";
import {
  type Head,
  type Json,
  type LiveRecords,
  type LogRecord,
  type MessageRecord,
  parseRecord,
  type ThreadHeader,
  type UsageRecord,
  type ViewEntry,
  type ViewOptions,
} from "@palimpsest/core/log";
import { convert, type Dialect, type Shape } from "@palimpsest/core/message";
import { rememberStateChain, stateChainOf, withChanges } from "../compaction/state-chain.ts";
import { keepIndexed } from "../recall/catch-up.ts";
import { scrub, seqOf } from "../stores/driver-rules.ts";
import type { AppendBatch, ThreadLoad } from "../stores/store.ts";
import { StoreError } from "../stores/store-error.ts";
import { foldingView } from "./live-prompt.ts";
import { type Committed, prepare, type RecordInput, receipts, type Writer } from "./writer.ts";

export interface Conversation<M> {
  readonly header: ThreadHeader;
  readonly shape: Shape<M>;
  head(): Head;
  live(): LiveRecords;
  view(): readonly ViewEntry<M>[];
  /** What the view would be with other live records. */
  viewOf(live: LiveRecords): readonly ViewEntry<M>[];
  /** A message as it was given, whatever was pruned since. */
  original(record: MessageRecord): M;
  /** The reports of usage on what is visible, oldest first, as they were read with the log; else null: the store has them. */
  reports?(): readonly UsageRecord[] | null;
  /** The state that the live compaction left for the next one, whole; null when there is none, or it was erased. */
  state(): Promise<Json>;
  /** All of them or none; on success the conversation stands after them. */
  commit(
    inputs: readonly RecordInput[],
    also?: Pick<AppendBatch, "jobs" | "prompts" | "matches" | "flush" | "leaseAfter">,
  ): Promise<Committed & { readonly records?: readonly LogRecord[] }>;
  /** Erases bodies for good, with a receipt: for words that were erased elsewhere while they were being written here. */
  erase(
    bodies: readonly { readonly seq: number; readonly body: string }[],
    inputs: readonly RecordInput[],
  ): Promise<Committed>;
  /** Brings it to where the log stands now, with what others have written; what it knows is read anew only if it must. */
  catchUp(): Promise<"current" | "grown" | "reread" | "missing">;
}

/** `before`: the same thread as it was opened earlier; where the log has only grown since, only what was added is read. */
export async function openConversation<M>(
  writer: Writer,
  shape: Shape<M>,
  before: Conversation<M> | null = null,
  times?: ViewOptions<M>["times"],
): Promise<Conversation<M> | null> {
  const { store, lease } = writer;
  const earlier = before === null ? null : loadedOf(before);
  // Until the lease is taken, the log is taken to stand where it stood: the append that takes it finds out.
  const isUnread = earlier !== null && writer.claim?.isHeld() === false;
  const { moved, now: first }: LoadedNow = isUnread
    ? { moved: "current", now: earlier }
    : await loadedNow(writer, earlier);
  if (first === null) return null;
  let { head, live, reports } = first;
  const known = moved === "reread" ? null : before;
  const original = known?.original ?? readingOnce(shape);
  const viewing = { shape, read: original, times };
  const shown = foldingView(viewing, known && { live: known.live(), entries: known.view() });
  const reload = async (): Promise<void> => {
    const loaded = await store.load(lease.threadId);
    if (loaded === undefined) return;
    ({ head, live, reports } = loadedThread(loaded));
  };

  return {
    header: first.header,
    shape,
    head: () => head,
    live: () => live,
    viewOf: (records) => view(records, viewing),
    original,
    reports: () => reports,
    async catchUp() {
      const known = { header: first.header, head, live, reports };
      const { moved, now } = await loadedNow(writer, known);
      ({ head, live, reports } = now ?? known);
      return now === null ? "missing" : moved;
    },
    state: async () => (await stateChainOf(store, lease.threadId, live.compaction))?.state ?? null,
    view: () => shown(live),
    async commit(inputs, also) {
      const chain = inputs.some(isCompaction) ? await stateChainOf(store, lease.threadId, live.compaction) : null;
      const rules = ruleHashes(live, inputs, writer.hash);
      const written = inputs.map((input) => (isCompaction(input) ? { ...withChanges(input, chain), ...rules } : input));
      const batch = { ...(await prepare(writer, head, written)), ...also };
      const result = await (writer.claim?.append(batch, head.hash) ?? store.append(lease.threadId, batch));
      if (result.kind !== "appended") return result;
      const indexed = head.messages;
      const records = batch.records.map(parseRecord);
      head = batch.head;
      reports = null;
      if (records.some((record) => record.kind === "undo")) await reload();
      else live = liveAfterAll(live, records as Exclude<LogRecord, { kind: "undo" }>[]);
      for (const record of records) if (record.kind === "compaction") rememberStateChain(chain, record);
      await keepIndexed(writer, lease.threadId, indexed, head.messages);
      return { kind: "committed", head, seqs: records.map(({ seq }) => seq), records };
    },
    async erase(erased, inputs) {
      const { threadId } = lease;
      const bodies = erased.map((one) => ({ threadId, ...one }));
      const batch = await prepare(writer, head, [...receipts(writer, erased), ...inputs]);
      const result = await store.redact({ bodies, batches: [{ threadId, batch }] });
      if (result.kind !== "appended") return result;
      await scrub(store);
      await reload();
      return { kind: "committed", head, seqs: batch.records.map(({ seq }) => seq) };
    },
  };
}

function isCompaction(input: RecordInput): input is Extract<RecordInput, { kind: "compaction" }> {
  return input.kind === "compaction";
}

/** A compaction names the rules in force, so that what a view must show can be checked in the log alone. */
function ruleHashes(live: LiveRecords, inputs: readonly RecordInput[], hash: Writer["hash"]) {
  const stated = inputs.findLast((input) => input.kind === "state" && "rules" in input.patch);
  const rules = stated?.kind === "state" ? readRules(stated.patch) : live.rules;
  const inForce = rules.list.length === 0 ? [] : rulesInForce(rules);
  return inForce.length === 0 ? {} : { rules: inForce.map(({ text }) => hash(text)) };
}

interface LoadedThread {
  readonly header: ThreadHeader;
  readonly head: Head;
  readonly live: LiveRecords;
  /** Null where not all of the log that is visible was read. */
  readonly reports: readonly UsageRecord[] | null;
}

function loadedOf<M>(conversation: Conversation<M>): LoadedThread {
  return { header: conversation.header, head: conversation.head(), live: conversation.live(), reports: null };
}

interface LoadedNow {
  readonly moved: "current" | "grown" | "reread";
  /** Null: there is no such thread. */
  readonly now: LoadedThread | null;
}

async function loadedNow(writer: Writer, known: LoadedThread | null): Promise<LoadedNow> {
  const now = known === null ? null : await grownFrom(writer, known);
  if (known === null || now === null) return { moved: "reread", now: await loadWhole(writer) };
  return { moved: now.head.version === known.head.version ? "current" : "grown", now };
}

/**
 * Where the log stands now, if it is the same one grown on: the chain says so. Null when it has to be read anew: it is
 * another log, something was taken back, or words were erased.
 */
async function grownFrom({ store, lease, hash }: Writer, known: LoadedThread): Promise<LoadedThread | null> {
  const { version } = known.head;
  const head = await store.head(lease.threadId);
  if (head === undefined || version === 0 || head.version < version) return null;
  const added: Exclude<LogRecord, { kind: "undo" }>[] = [];
  let last = known.head.hash;
  if (head.version > version) {
    for await (const { record, chained } of store.records(lease.threadId, { range: [version + 1, head.version] })) {
      if (record.kind === "undo" || (record.kind === "event" && record.event.type === "redacted")) return null;
      last = link(last, chained.header, chained.bodyHash, hash);
      added.push(record);
    }
  }
  const live = liveAfterAll(known.live, added);
  return last === head.hash ? { header: known.header, head, live, reports: null } : null;
}

async function loadWhole({ store, lease }: Writer): Promise<LoadedThread | null> {
  const loaded = await store.load(lease.threadId);
  if (loaded === undefined) return null;
  assertWhole(loaded);
  return loadedThread(loaded);
}

function loadedThread({ header, head, records: stored }: ThreadLoad): LoadedThread {
  const records = stored.map(({ record }) => record);
  const reports = records.filter((record) => record.kind === "usage" && record.seq > head.hiddenThrough);
  return { header, head, live: liveRecords(head, records), reports: reports as UsageRecord[] };
}

/** A record's message stays the same object as long as the record is held. */
function readingOnce<M>(shape: Shape<M>): (record: MessageRecord) => M {
  const cache = new WeakMap<MessageRecord, { readonly message: M }>();
  return (record) => {
    const entry = cache.get(record) ?? { message: readBody(record, shape) };
    cache.set(record, entry);
    return entry.message;
  };
}

/** Going on from a log with a hole would bury the damage under new records. */
function assertWhole(loaded: ThreadLoad): void {
  const damage = damageOf(loaded);
  if (damage !== null) throw new StoreError("corrupt", damage.message);
}

/** A body in another dialect than the conversation's is converted; where that takes several messages they are joined. */
export function readBody<M>(record: MessageRecord, shape: Shape<M>): M {
  const message = inDialect(record, shape);
  const isUsers = record.origin !== "import" && record.origin !== "tool";
  return shape.dialect !== "ai-sdk" || isUsers ? message : withoutAddresses(message);
}

function inDialect<M>(record: MessageRecord, shape: Shape<M>): M {
  const value: unknown = JSON.parse(record.body);
  if (record.dialect === shape.dialect) return value as M;
  // The message types are known only to their shapes; a body says which one it is in, and a stored thread is read in ours.
  const converted = convert([value as never], record.dialect, shape.dialect as Dialect) as unknown as readonly M[];
  const [first, ...rest] = converted;
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
