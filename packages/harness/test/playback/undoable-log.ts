/** A log in memory that can take back, for random logs: every view of it can be compared with a fold of its records. */
import type { Head, Json, LiveRecords, LogRecord, MessageRecord, Structural } from "@palimpsest/core/internal/log";
import {
  advance,
  emptyHead,
  liveAfter,
  liveRecords,
  NOTHING_LIVE,
  structural,
  view,
} from "@palimpsest/core/internal/log";
import type { Dialect, Shape } from "@palimpsest/core/internal/message";
import type { ThreadLog } from "../../src/thread/thread.ts";
import { foldingView, NO_THREAD } from "../../src/thread/thread-view.ts";
import type { RecordInput } from "../../src/thread/writer.ts";

export class UndoableLog implements ThreadLog<object> {
  readonly header = NO_THREAD;
  readonly shape: Shape<object>;
  readonly #records: LogRecord[] = [];
  readonly #said = new Map<number, object>();
  readonly structure: Structural[] = [];
  #head: Head = emptyHead(NO_THREAD.createdAt);
  #live: LiveRecords = NOTHING_LIVE;
  readonly #shown: (live: LiveRecords) => ReturnType<ThreadLog<object>["view"]>;

  readonly #times: (() => { readonly at: string }) | null;

  /** `times`: when each message is said; null: at no time. */
  constructor(shape: Shape<object>, times: (() => { readonly at: string }) | null) {
    this.shape = shape;
    this.#times = times;
    this.#shown = foldingView({ shape, read: this.original });
  }

  readonly original = ({ seq }: MessageRecord): object => this.#said.get(seq)!;
  readonly head = (): Head => this.#head;
  readonly live = (): LiveRecords => this.#live;
  readonly view = (live?: LiveRecords) =>
    live === undefined ? this.#shown(this.#live) : view(live, { shape: this.shape, read: this.original });
  readonly summaryState = async (): Promise<Json> => (this.#live.compaction?.summary.state ?? null) as Json;

  readonly commit = async (inputs: readonly RecordInput[]) => {
    const seqs = inputs.map((input) => this.#add(input).seq);
    return { kind: "committed" as const, head: this.#head, seqs };
  };

  async say(message: object, dialect: Dialect): Promise<void> {
    const seq = this.#head.version + 1;
    this.#said.set(seq, message);
    this.#add({ kind: "message", id: `m${seq}`, dialect, origin: "user", body: "", ...this.#times?.() });
  }

  messages(seqs: readonly number[]): MessageRecord[] {
    return this.#records.filter((record) => record.kind === "message").filter(({ seq }) => seqs.includes(seq));
  }

  prune(entries: Extract<LogRecord, { kind: "prune" }>["entries"]): boolean {
    this.#add({ kind: "prune", entries, tokensBefore: 0, tokensAfter: 0 });
    return true;
  }

  undo(seqs: readonly number[]): boolean {
    for (const of of seqs) this.#add({ kind: "undo", of });
    return true;
  }

  /** The live records of the whole log, without these records. */
  folded(gone: ReadonlySet<number>): LiveRecords {
    return foldOf(this.#records.filter(({ seq }) => !gone.has(seq)));
  }

  withUndos(undos: readonly Structural[]): LiveRecords {
    const common = { v: 3, at: "", runId: null } as const;
    return foldOf([...this.#records, ...undos.map((undo) => ({ ...common, ...undo }) as LogRecord)]);
  }

  #add(input: RecordInput): LogRecord {
    const record = { v: 3, at: "", runId: null, ...input, seq: this.#head.version + 1 } as LogRecord;
    this.#head = advance(this.#head, { hash: "" }, record, this.structure);
    this.#records.push(record);
    const act = structural(record);
    if (act !== null) this.structure.push(act);
    this.#live = record.kind === "undo" ? liveRecords(this.#head, this.#records) : liveAfter(this.#live, record);
    return record;
  }
}

function foldOf(records: readonly LogRecord[]): LiveRecords {
  let head = emptyHead("");
  const structure: Structural[] = [];
  for (const record of records) {
    head = advance(head, { hash: "" }, record, structure);
    const act = structural(record);
    if (act !== null) structure.push(act);
  }
  return liveRecords(head, records);
}
