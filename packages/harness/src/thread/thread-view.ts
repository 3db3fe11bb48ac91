/**
 * A thread as it is read: its log loaded whole, or only what was added to what is known; the view folded of it, and the prompt
 * made of that under one sizer. Each stays the same value until something is said, a report comes or the fixed part changes;
 * then only what differs is worked out again. A log with a hole in it is not gone on with.
 */
import {
  FORMAT_VERSION,
  type Folded,
  type Head,
  type Json,
  type LiveRecords,
  type LogRecord,
  link,
  liveAfter,
  liveAfterAll,
  liveRecords,
  type MessageRecord,
  rulesKey,
  type ThreadHeader,
  type UsageRecord,
  type ViewEntry,
  type ViewOptions,
  view,
  viewAct,
  viewAfter,
} from "@palimpsest/core/internal/log";
import { readStoredAs, type Shape } from "@palimpsest/core/internal/message";
import {
  buildPrompt,
  createSizer,
  type Prompt,
  type Sizer,
  type SizerOptions,
  sizeOf,
} from "@palimpsest/core/internal/prompt";
import { resumeAccount, viewKey } from "@palimpsest/core/internal/tokens";
import { damageOf } from "../stores/driver-rules.ts";
import type { Store, ThreadLoad } from "../stores/store.ts";
import { StoreError } from "../stores/store-error.ts";
import type { StoredLog } from "./log.ts";
import type { Thread, ThreadLog } from "./thread.ts";
import type { RecordInput, Writer } from "./writer.ts";

/** What the keys of a thread's state hold. A feature adds its own by `declare module`, beside the code that writes it. */
export interface ThreadState {
  readonly title?: string;
  /** The thread whose files a fork still lacks. */
  readonly files?: { readonly copyFrom: string };
}

/** State is JSON that only code which declares its key writes: this is the one place that takes its word for it. */
export function threadState({ state }: Pick<Head, "state">): ThreadState {
  return state as ThreadState;
}

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

// The view of live records: folded forward from the one before it, and kept until they change.

/** `before`: a view to go on from. */
export function foldingView<M>(
  options: ViewOptions<M>,
  before: Folded<M> | null = null,
): (live: LiveRecords) => readonly ViewEntry<M>[] {
  let folded = before;
  return (live) => {
    if (folded?.live !== live) {
      const entries = folded === null ? view(live, options) : viewAfter(folded, live, options);
      folded = { live, entries };
    }
    return folded.entries;
  };
}

// The prompt of the view, and the sizer: the one that was left before, or a new one whose account is resumed from the reports
// in the log.

/** `before`: a prompt to start from. */
export function livePrompt<M extends object>(
  thread: ThreadLog<M>,
  sizer: Sizer<M>,
  before: Prompt<M> | null = null,
): () => Prompt<M> {
  let prompt = before;
  let built: { readonly view: unknown; readonly key: string; readonly version: number } | null = null;
  return () => {
    const view = thread.view();
    const key = keyOf(thread);
    const { version } = sizer;
    if (prompt === null || built?.view !== view || built.key !== key || built.version !== version) {
      prompt = buildPrompt(view, { sizer, key, before: prompt });
      built = { view, key, version };
    }
    return prompt;
  };
}

/** Names the view a thread shows, as the records of usage do. */
export function shownAt<M extends object>(thread: ThreadLog<M>) {
  const { compaction, prunes } = thread.head();
  const fold = { compaction, prune: prunes.at(-1) ?? null };
  const { rules } = thread.live();
  return rules.list.length === 0 ? fold : { ...fold, rules: rulesKey(rules) };
}

function keyOf<M extends object>(thread: ThreadLog<M>): string {
  return viewKey(shownAt(thread));
}

/** What a thread is counted with, and what was counted last: the next who opens it goes on from it. */
export interface OpenSizer<M> {
  readonly sizer: Sizer<M>;
  readonly prompt: Prompt<M> | null;
  /** When the provider was asked last, if it was. */
  readonly lastAt: number | null;
  /** Others have written since: what they report is not counted yet. */
  readonly moved?: boolean;
}

/** An open thread and where it is stored. */
interface CountedThread<M extends object> {
  readonly store: Store;
  readonly log: StoredLog<M>;
}

/** Whose reports count, what they start from, and the most the model takes. */
interface CountedModel {
  readonly model: string;
  readonly prior: number;
  readonly window: () => number;
}

export async function openSizer<M extends object>(
  thread: CountedThread<M>,
  options: CountedModel & { readonly before: OpenSizer<M> | null } & Required<
      Omit<SizerOptions<M>, "shape" | "account">
    >,
): Promise<OpenSizer<M>> {
  const { rules, meter, fixed, bind, before } = options;
  const { shape } = thread.log;
  if (before !== null && !before.moved && countsFor(options, before.sizer)) {
    const { account } = before.sizer;
    if (before.sizer.shape !== shape)
      return { ...before, sizer: createSizer({ shape, rules, meter, fixed, bind, account }) };
    before.sizer.fix(fixed, bind);
    return before;
  }
  const sizer = createSizer({ shape, rules, meter, fixed, bind });
  const prompt = livePrompt(thread.log, sizer, before?.prompt)();
  return { sizer, prompt, lastAt: await countOnReports(thread, sizer, { ...options, prompt }) };
}

/** Another agent may have left it, which asks another model or knows other tools. */
function countsFor<M>(
  { meter, model, prior }: CountedModel & Pick<SizerOptions<M>, "meter">,
  sizer: Sizer<M>,
): boolean {
  return sizer.meter === meter && sizer.account?.model === model && sizer.account.prior === prior;
}

/** From here on the sizer counts on what the log reports; returns when the provider was asked last. */
export async function countOnReports<M extends object>(
  { store, log }: CountedThread<M>,
  sizer: Sizer<M>,
  { prompt, model, prior, window }: CountedModel & { readonly prompt: Prompt<M> },
): Promise<number | null> {
  const reports = await readReports(store, log);
  const { factors } = log.head();
  const act = viewAct(log.live());
  const resumed = { prompt: sizeOf(prompt), factors, priorOf: () => prior, window: window(), act };
  sizer.countOn({ account: resumeAccount(reports, resumed), model, prior });
  const newest = reports.at(-1);
  return newest === undefined ? null : Date.parse(newest.at);
}

/** Enough to learn a model's factor from; more would only cost time on a long tail. */
export const REPORTS = 64;

/** The newest reports on what is visible now, oldest first. */
async function readReports<M extends object>(store: Store, log: StoredLog<M>): Promise<readonly UsageRecord[]> {
  const { hiddenThrough, version, usage } = log.head();
  const range = [hiddenThrough + 1, version] as const;
  if (usage === null || range[0] > range[1]) return [];
  const known = log.reports();
  if (known !== null) return known.filter(isFlawless).slice(-REPORTS);
  const reports: UsageRecord[] = [];
  const query = { range, kinds: ["usage"], order: "descending" } as const;
  for await (const { record } of store.records(log.header.id, query)) {
    if (record.kind === "usage" && isFlawless(record)) reports.push(record);
    if (reports.length >= REPORTS) break;
  }
  return reports.toReversed();
}

function isFlawless({ flaw }: UsageRecord): boolean {
  return flaw == null;
}

// A thread that goes on in memory only: what is committed is folded into its view and written nowhere. For
// dry runs, for looking at a thread through another window, for callers that keep the messages themselves, and for
// simulations.

interface InMemoryOptions<M extends object> {
  readonly header: ThreadHeader;
  readonly shape: Shape<M>;
  /** Where it starts. */
  readonly head: Head;
  readonly live: LiveRecords;
  /** A message as it was given. */
  readonly original: (record: MessageRecord) => M;
  /** The number of the next record; one more than the last unless told. */
  readonly nextSeq?: (head: Head) => number;
  /** The whole state of the compaction that stands at the start; without it the record itself has it. */
  readonly state?: () => Promise<Json>;
  readonly times?: ViewOptions<M>["times"];
}

export function threadInMemory<M extends object>(options: InMemoryOptions<M>): ThreadLog<M> & Pick<Thread<M>, "write"> {
  const { header, shape, original, nextSeq = ({ version }) => version + 1 } = options;
  let { head, live } = options;
  const folding = { shape, read: original, times: options.times };
  const shown = foldingView(folding);
  const add = (record: LogRecord): void => {
    if (record.kind === "undo") throw new TypeError("a thread in memory can't undo: it keeps no log");
    live = liveAfter(live, record);
    head = { ...head, version: record.seq };
    if (record.kind === "compaction") head = { ...head, compaction: record.seq, hiddenThrough: record.covers[1] };
    if (record.kind === "prune") head = { ...head, prunes: live.prunes.map(({ seq }) => seq) };
  };
  /** Written nowhere but here. */
  const added = (inputs: readonly RecordInput[]): readonly number[] =>
    inputs.map((input) => {
      const common = { v: FORMAT_VERSION, seq: nextSeq(head), at: head.updatedAt, runId: null };
      const record: LogRecord = { ...common, ...input };
      add(record);
      return record.seq;
    });
  return {
    header,
    shape,
    original,
    head: () => head,
    live: () => live,
    view: (other = live) => (other === live ? shown(live) : view(other, folding)),
    async summaryState() {
      // What is committed here keeps its state whole.
      const stands = live.compaction !== null && live.compaction === options.live.compaction;
      if (stands && options.state !== undefined) return options.state();
      return (live.compaction?.summary.state ?? null) as Json;
    },
    commit: async (inputs) => ({ kind: "committed", head, seqs: added(inputs) }),
    write: async (make) => added((await make()).inputs),
  };
}

/** For one that is no stored thread. */
export const NO_THREAD: ThreadHeader = {
  id: "memory",
  user: "default",
  agent: "default",
  parent: null,
  forkedAt: null,
  kind: "main",
  createdAt: "1970-01-01T00:00:00.000Z",
  memory: "off",
};

/** A message is held twice, as it was stored and as it was read, and has objects around it. */
export function bytesOf({ systems, tail }: LiveRecords): number {
  return [...systems, ...tail].reduce((sum, { body }) => sum + 2 * body.length + 1_000, 0);
}
