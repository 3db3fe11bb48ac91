/**
 * The whole state of a stored compaction, and what of a thread's state a summary must carry. A record may hold only what
 * changed since the one it folds, so its checkpoint and the few records between are read as well; nothing older. Runs in a
 * browser: no `node:` import. Below: the names of the files that keep hidden originals.
 */
import type { StateLines } from "@palimpsest/core/internal/compaction";
import type { CompactionRecord, Range, RuleList, StateChain } from "@palimpsest/core/internal/log";
import {
  chainAfter,
  parseHeader,
  readNotes,
  readRules,
  rulesInForce,
  storedState,
} from "@palimpsest/core/internal/log";
import type { Store } from "../stores/store.ts";

const chains = new WeakMap<CompactionRecord, StateChain | null>();

/** Read when it is first asked for, and then kept as long as the record is. */
export async function stateChainOf(
  store: Store,
  threadId: string,
  compaction: CompactionRecord | null,
): Promise<StateChain | null> {
  if (compaction === null) return null;
  const chain = chains.get(compaction) ?? (await readStateChain(store, threadId, compaction));
  chains.set(compaction, chain);
  return chain;
}

/** `before` is the chain of the compaction that the record folds. */
export function rememberStateChain(before: StateChain | null, record: CompactionRecord): void {
  chains.set(record, chainAfter(before, record));
}

/** A compaction is written as what it changes. */
export function withChanges<D extends Pick<CompactionRecord, "summary">>(record: D, chain: StateChain | null): D {
  const { checkpoint, state } = storedState(chain, record.summary);
  return { ...record, checkpoint, summary: { ...record.summary, state } };
}

async function readStateChain(
  store: Store,
  threadId: string,
  compaction: CompactionRecord,
): Promise<StateChain | null> {
  const { seq, checkpoint = null } = compaction;
  if (checkpoint === null) return chainAfter(null, compaction);
  const seqs = await foldedFrom(store, threadId, [checkpoint, seq]);
  let chain: StateChain | null = null;
  for await (const { record } of store.records(threadId, { kinds: ["compaction"], seqs, range: [checkpoint, seq] }))
    if (record.kind === "compaction") chain = chainAfter(chain, record);
  return chain;
}

/** The compactions in a range that its last one folds, and itself. Others were taken back and stand in between. */
async function foldedFrom(store: Store, threadId: string, range: Range): Promise<readonly number[]> {
  const folds = new Map<number, number | null>();
  for await (const { chained } of store.records(threadId, { kinds: ["compaction"], range, bodies: "none" })) {
    const header = parseHeader(chained);
    if (header.kind === "compaction") folds.set(header.seq, header.folds);
  }
  const seqs: number[] = [];
  for (let next: number | null = range[1]; next !== null && folds.has(next); next = folds.get(next) ?? null)
    seqs.unshift(next);
  return seqs;
}

/**
 * The parts of a thread's state that a summary must carry, as lines: todos, delegations, loaded skills. They are state,
 * not messages, so that a compaction can't lose them.
 */
export function stateLines(state: Readonly<Record<string, unknown>>): StateLines {
  return {
    todos: listOf(state["todos"], (todo) => `[${text(todo, "status") || "open"}] ${text(todo, "content")}`),
    delegations: listOf(byNeed(state["delegations"]), delegation),
    ...(state["notes"] != null && { notes: readNotes(state) }),
    skills: listOf(state["skills"], (skill) => (typeof skill === "string" ? skill : text(skill, "name"))),
  };
}

/** Where there isn't room for all: what isn't finished first, then the newest. */
function byNeed(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const newest = value.toReversed();
  const open = (task: unknown): boolean => text(task, "status") !== "completed";
  return [...newest.filter(open), ...newest.filter((task) => !open(task))];
}

function delegation(task: unknown): string {
  const [status, threadId, answer] = [text(task, "status"), text(task, "threadId"), text(task, "answer")];
  // An answer's file is named after its thread, and every line has to be paid for in each prompt.
  const deleted = text(task, "deletedAt").slice(0, 10);
  const place = deleted === "" ? `thread ${threadId}` : `its thread was deleted on ${deleted}`;
  const where = answer.includes(threadId) ? `answer in ${answer}` : place;
  const open = status === "interrupted" && deleted === "";
  const next = open ? "; not finished: continue it with task and resume" : "";
  return `${status}: ${text(task, "description")} (${where}${next})`;
}

function listOf(value: unknown, line: (item: unknown) => string): string[] {
  const items = Array.isArray(value) ? value : typeof value === "object" && value !== null ? Object.values(value) : [];
  return items.map(line).filter((one) => one.trim() !== "");
}

function text(item: unknown, key: string): string {
  const value = typeof item === "object" && item !== null ? (item as Record<string, unknown>)[key] : undefined;
  return typeof value === "string" ? value : "";
}

/** The rules that the prompt shows once this list is in force; null: those of the state stay. */
export function shownRules(rules: RuleList | null, state: Readonly<Record<string, unknown>>): readonly string[] {
  if (rules === null && state["rules"] == null) return [];
  return rulesInForce(rules ?? readRules(state)).map(({ text }) => text);
}

/* The names of a thread's hidden originals as files. The files themselves are made elsewhere: records name them where there is no disk. */

/** Where a thread's folder keeps the hidden originals. */
export const HISTORY = "history";

/** Sorted by name, the files are in the order of their messages. */
export function partName([first, last]: Range): string {
  const pad = (seq: number): string => String(seq).padStart(10, "0");
  return `part-${pad(first)}-${pad(last)}.jsonl`;
}

/** Relative to the thread's workspace, as records and outcomes name it. */
export function archivePath(covers: Range): string {
  return `${HISTORY}/${partName(covers)}`;
}
