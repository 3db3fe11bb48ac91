/**
 * The prompt of an open thread under one sizer. It is a value and stays the same until something is said, a
 * report comes or the fixed part changes; then only what differs is worked out again. The sizer is the one that was left
 * before, or a new one whose account is resumed from the reports in the log.
 */

import type {
  Folded,
  Head,
  Json,
  LiveRecords,
  LogRecord,
  MessageRecord,
  ThreadHeader,
  UsageRecord,
  ViewEntry,
  ViewOptions,
} from "@palimpsest/core/internal/log";
import { FORMAT_VERSION, liveAfter, rulesKey, view, viewAfter } from "@palimpsest/core/internal/log";
import type { Shape } from "@palimpsest/core/internal/message";
import type { Prompt, Sizer, SizerOptions } from "@palimpsest/core/internal/prompt";
import { buildPrompt, createSizer, sizeOf } from "@palimpsest/core/internal/prompt";
import { resumeAccount, viewKey } from "@palimpsest/core/internal/tokens";
import type { Store } from "../stores/store.ts";
import type { StoredLog } from "./log.ts";
import type { Thread, ThreadLog } from "./thread.ts";
import type { RecordInput } from "./writer.ts";

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

/** What a thread is counted with, and what was counted last: whoever opens it next goes on from it. */
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
  const head = log.head();
  const reports = await readReports(store, log);
  const resumed = { prompt: sizeOf(prompt), factors: head.factors, priorOf: () => prior, window: window() };
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
