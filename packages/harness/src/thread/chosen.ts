/**
 * What people choose of a thread's prompt: its standing rules, its notes, and cuts in the middle. Each act is decided by
 * core's pure functions on the thread as it stands under its lease, and is one record (a fold keeps the rules it would hide
 * in another one); what is refused changes nothing.
 */
import { storedSummary } from "@palimpsest/core/internal/compaction";
import {
  type ChosenCut,
  FORMAT_VERSION,
  type Head,
  liveAfter,
  NO_RULES,
  type Note,
  type NoteChange,
  type NoteWrite,
  type PruneRecord,
  planFold,
  planHide,
  planShow,
  type Range,
  type RuleChange,
  type RuleList,
  readNotes,
  readRules,
  type ShowPlan,
  summaryEdits,
  writeNote as writtenNote,
} from "@palimpsest/core/internal/log";
import { considerPrompt, entryTokens, type Prompt } from "@palimpsest/core/internal/prompt";
import type { EditableItem, SummaryChange } from "@palimpsest/core/internal/summary";
import {
  atOnce,
  editableItems,
  editedState,
  extractSummary,
  planEdit,
  renderSummary,
} from "@palimpsest/core/internal/summary";
import { statedRules } from "../compaction/summary.ts";
import { inTurns } from "../long-work.ts";
import { undo } from "./acts.ts";
import { sizedThread } from "./sized-thread.ts";
import type { ThreadView } from "./thread.ts";
import { type Committed, commit, type RecordInput, type ThreadDeps, type Writer } from "./writer.ts";

type NotCommitted = Exclude<Committed, { readonly kind: "committed" }>;

/** The rules as stored, and those that its visible messages state and the next compaction will keep. */
export async function threadRules({ store, clock }: ThreadDeps, threadId: string): Promise<RuleList | null> {
  const load = await store.load(threadId);
  if (load === undefined) return null;
  const { thread } = await sizedThread(store, load);
  return inTurns(statedRules(thread, rulesOf(load.head), clock().toISOString()));
}

function rulesOf({ state }: Pick<Head, "state">): RuleList {
  return state["rules"] == null ? NO_RULES : readRules(state);
}

/** Writes what an act makes of the rules. Rules that messages state are kept first, so that each has its id. */
export async function changeRules(
  writer: Writer,
  act: (rules: RuleList, at: string) => RuleChange,
): Promise<RuleChange | NotCommitted> {
  const rules = await threadRules(writer, writer.lease.threadId);
  if (rules === null) return { kind: "missing" };
  const change = act(rules, writer.clock().toISOString());
  if (change.kind === "refused") return change;
  const result = await commit(writer, [{ kind: "state", patch: { rules: change.rules } }]);
  return result.kind === "committed" ? change : result;
}

export async function threadNotes({ store }: Pick<ThreadDeps, "store">, id: string): Promise<readonly Note[] | null> {
  const head = await store.head(id);
  return head === undefined ? null : readNotes(head.state);
}

export async function changeNote(writer: Writer, write: NoteWrite, by: Note["by"]): Promise<NoteChange | NotCommitted> {
  const head = await writer.store.head(writer.lease.threadId);
  if (head === undefined) return { kind: "missing" };
  const at = writer.clock().toISOString();
  const change = writtenNote(readNotes(head.state), write, { by, at, last: head.version });
  if (change.kind === "refused") return change;
  const notes = change.notes.length === 0 ? null : change.notes;
  const result = await commit(writer, [{ kind: "state", patch: { notes } }], { head, structure: [] });
  return result.kind === "committed" ? change : result;
}

/** What a cut comes to. A prompt cache holds what stands before the cut; what stands after it is read anew once. */
interface ChosenFigures {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Tokens that the next request reads without the cache. */
  readonly rereads: number;
  /** Requests after which the cut has paid for itself where cached tokens cost a tenth; null if it frees nothing. */
  readonly paysAfter: number | null;
}

export type CutResult =
  /** `seq` is null for a dry run. */
  | ({ readonly kind: "cut"; readonly seq: number | null; readonly range: Range } & ChosenFigures)
  | Extract<ChosenCut, { readonly kind: "refused" }>
  | NotCommitted;

export type CutRequest =
  | { readonly kind: "hide"; readonly seq: number; readonly part: number | null }
  /** Without a report one is made of the messages by rules, without a model. */
  | { readonly kind: "fold"; readonly range: Range; readonly report?: string | undefined };

export async function cutThread(writer: Writer, request: CutRequest, mode: "act" | "dry-run"): Promise<CutResult> {
  const load = await writer.store.load(writer.lease.threadId);
  if (load === undefined) return { kind: "missing" };
  const { thread, prompt } = await sizedThread(writer.store, load);
  const cut = planCut(thread, request, { prompt: prompt(), at: writer.clock().toISOString() });
  if (cut.kind === "refused") return cut;
  const { range, records, figures } = cut;
  if (mode === "dry-run") return { kind: "cut", seq: null, range, ...figures };
  const result = await commit(writer, records, { head: load.head, structure: [] });
  if (result.kind !== "committed") return result;
  return { kind: "cut", seq: result.seqs.at(-1) ?? null, range, ...figures };
}

interface PlannedCut {
  readonly kind: "cut";
  readonly range: Range;
  readonly figures: ChosenFigures;
  /** Its prune, behind the rules that it would hide. */
  readonly records: readonly RecordInput[];
}

/** Tokens that hiding a short message may add to the prompt. */
const HIDE_COST = 24;

/** The records of a cut. A fold that frees nothing is refused. */
export function planCut<M>(
  thread: ThreadView<M>,
  request: CutRequest,
  { prompt, at }: { readonly prompt: Prompt<M>; readonly at: string },
): PlannedCut | Extract<ChosenCut, { readonly kind: "refused" }> {
  const cut = chosenCut(thread, request, prompt);
  if (cut.kind === "refused") return cut;
  const { entries, range } = cut;
  const rules = request.kind === "fold" ? rulesIn(thread, range, at) : null;
  const figures = figuresOf(thread, entries, prompt, rules);
  const { tokensBefore, tokensAfter } = figures;
  const prune = { kind: "prune", entries, tokensBefore, tokensAfter } as const;
  const records = rules === null ? [prune] : [{ kind: "state", patch: { rules } } as const, prune];
  // A person may want a short message gone because it is wrong: its place may cost a little.
  const most = request.kind === "hide" ? tokensBefore + HIDE_COST : tokensBefore - 1;
  if (tokensAfter <= most) return { kind: "cut", range, figures, records };
  const problem = `nothing was hidden: what stands there has ${tokensBefore} tokens, the line in its place would make it ${tokensAfter}`;
  return { kind: "refused", reason: "nothing-to-hide", problem };
}

function chosenCut<M>(thread: ThreadView<M>, request: CutRequest, prompt: Prompt<M>): ChosenCut {
  const live = thread.live();
  const options = { shape: thread.shape, read: thread.original };
  if (request.kind === "hide") return planHide(live, request, options);
  const checked = planFold(live, request.range, null, options);
  if (checked.kind === "refused") return checked;
  const { report } = request;
  const words = report ?? extracted(thread, checked.range, prompt);
  return planFold(live, request.range, { words, reason: report === undefined ? "folded" : "reported" }, options);
}

/** With the standing rules that a person typed in the range: a fold must not take them out of the prompt. Null if they are kept. */
function rulesIn<M>(thread: ThreadView<M>, [from, until]: Range, at: string): RuleList | null {
  const rules = rulesOf(thread.head());
  const live = thread.live();
  const inside = { ...live, tail: live.tail.filter(({ seq }) => seq >= from && seq <= until) };
  const stated = atOnce(statedRules({ ...thread, live: () => inside }, rules, at));
  return stated === rules ? null : stated;
}

/** Most tokens of a report that is made by rules. */
const MOST_REPORT = 1000;

function extracted<M>(thread: ThreadView<M>, [from, until]: Range, prompt: Prompt<M>): string {
  const { shape } = thread;
  const count = (text: string): number => prompt.sizer.text(text);
  const inside = thread.live().tail.filter(({ seq }) => seq >= from && seq <= until);
  const entries = inside.map((record) => ({ seq: record.seq, message: thread.original(record) }));
  const whole = entries.reduce((sum, { message }) => sum + prompt.sizer.message(message).text, 0);
  const maxTokens = Math.max(80, Math.min(MOST_REPORT, Math.floor(whole / 3)));
  return renderSummary(extractSummary(null, entries, shape, { maxTokens, count }), { maxTokens, count }).text;
}

/** The items of the live summary with what people changed; empty where nothing is hidden or the summary was erased. */
export async function summaryItems(
  { store }: Pick<ThreadDeps, "store">,
  id: string,
): Promise<{ readonly compaction: number | null; readonly items: readonly EditableItem[] } | null> {
  const load = await store.load(id);
  if (load === undefined) return null;
  const { thread } = await sizedThread(store, load);
  const [compaction, state] = [load.head.compaction, storedSummary(await thread.summaryState())];
  const items = state === null ? [] : editableItems(editedState(state, summaryEdits(thread.live())));
  return { compaction, items };
}

export type SummaryEditResult =
  /** `seq` is null for a dry run. */
  | ({ readonly kind: "edited"; readonly seq: number | null; readonly item: string } & ChosenFigures)
  | { readonly kind: "refused"; readonly problem: string }
  | NotCommitted;

/** One record that changes one item of the live summary. */
export async function editSummary(
  writer: Writer,
  change: SummaryChange,
  mode: "act" | "dry-run",
): Promise<SummaryEditResult> {
  const load = await writer.store.load(writer.lease.threadId);
  if (load === undefined) return { kind: "missing" };
  const { thread, prompt } = await sizedThread(writer.store, load);
  const target = load.head.compaction;
  if (target === null) return { kind: "refused", problem: "nothing is hidden, so there is no summary yet" };
  const state = storedSummary(await thread.summaryState());
  if (state === null) return { kind: "refused", problem: "the summary was erased with a redacted message" };
  const plan = planEdit(state, summaryEdits(thread.live()), change);
  if (plan.kind === "refused") return plan;
  const { text: replacement, ...edit } = plan.edit;
  const entries = [{ target, part: 0, replacement, reason: "edited", edit }] as const;
  const figures = figuresOf(thread, entries, prompt());
  const { tokensBefore, tokensAfter } = figures;
  if (mode === "dry-run") return { kind: "edited", seq: null, item: edit.item, ...figures };
  const record = { kind: "prune", entries, tokensBefore, tokensAfter } as const;
  const result = await commit(writer, [record], { head: load.head, structure: [] });
  if (result.kind !== "committed") return result;
  return { kind: "edited", seq: result.seqs[0] ?? null, item: edit.item, ...figures };
}

const READ = 0.1;
const WRITE = 1.25;

function figuresOf<M>(
  thread: ThreadView<M>,
  entries: PruneRecord["entries"],
  prompt: Prompt<M>,
  rules: RuleList | null = null,
): ChosenFigures {
  const { version } = thread.head();
  const record: PruneRecord = {
    kind: "prune",
    entries,
    tokensBefore: 0,
    tokensAfter: 0,
    v: FORMAT_VERSION,
    seq: version + 1,
    at: "",
    runId: null,
  };
  const live = rules === null ? thread.live() : { ...thread.live(), rules };
  const after = considerPrompt(thread.view(liveAfter(live, record)), prompt);
  const first = after.entries.findIndex(({ message }, index) => message !== prompt.entries[index]?.message);
  const changed = first < 0 ? [] : after.entries.slice(first);
  const rereads = changed.reduce((sum, entry) => sum + entryTokens(entry, after.factor), 0);
  const [tokensBefore, tokensAfter] = [prompt.count.tokens, after.count.tokens];
  const freed = tokensBefore - tokensAfter;
  const paysAfter = freed <= 0 ? null : Math.ceil((rereads * (WRITE - READ)) / (freed * READ));
  return { tokensBefore, tokensAfter, rereads, paysAfter };
}

export type ShowResult =
  | { readonly kind: "shown"; readonly undone: readonly number[] }
  | Extract<ShowPlan, { readonly kind: "refused" }>
  | NotCommitted;

/** Takes back what hides a message, or one part of it: its hides, or the fold it lies in. */
export async function showMessage(
  writer: Writer,
  target: { readonly seq: number; readonly part: number | null },
): Promise<ShowResult> {
  const load = await writer.store.load(writer.lease.threadId);
  if (load === undefined) return { kind: "missing" };
  const { thread } = await sizedThread(writer.store, load);
  const plan = planShow(thread.live(), target);
  if (plan.kind === "refused") return plan;
  for (const of of plan.of) {
    const undone = await undo(writer, of);
    if (undone.kind === "refused")
      return { kind: "refused", reason: "not-hidden", problem: `record ${of} can't be taken back (${undone.reason})` };
    if (!("dependents" in undone)) return undone;
  }
  return { kind: "shown", undone: plan.of };
}
