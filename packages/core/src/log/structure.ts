/**
 * The structure of a log: the few records that decide what the prompt shows, stripped of their texts. Owns which of them
 * are live after any undo and redo, and what may be undone next. A pure fold; callers ask `planUndo` before they append.
 */

import type { Shape } from "../message/shape.ts";
import { isEdit } from "./apply-prune.ts";
import type { RecordHeader } from "./chain.ts";
import type { Head } from "./head.ts";
import type { LogRecord, MessageRecord, PruneEntry, PruneRecord, Range } from "./record.ts";
import { NO_RULES, readRules } from "./rules.ts";
import { type LiveRecords, type ViewEntry, type ViewOptions, view, visibleMessage, withDigest } from "./view.ts";

export type Structural =
  | { readonly kind: "compaction"; readonly seq: number; readonly covers: Range; readonly folds: number | null }
  /** `reach` is the last message it touches: past the hidden range the prune still shows. */
  | {
      readonly kind: "prune";
      readonly seq: number;
      readonly reach: number;
      /** Of an edit: the compaction whose summary it changes. */
      readonly edits?: number;
    }
  | { readonly kind: "undo"; readonly seq: number; readonly of: number }
  | { readonly kind: "evidence"; readonly seq: number };

export const STRUCTURAL_KINDS = ["compaction", "prune", "undo", "evidence"] as const;

/** What a record adds to the structure; null when it adds nothing. Only of a prune is the body needed. */
export function structural(record: Exclude<RecordHeader, { kind: "prune" }> | PruneRecord): Structural | null {
  switch (record.kind) {
    case "compaction":
      return { kind: "compaction", seq: record.seq, covers: record.covers, folds: record.folds };
    case "prune":
      return prunes(record);
    case "undo":
      return { kind: "undo", seq: record.seq, of: record.of };
    case "evidence":
      return { kind: "evidence", seq: record.seq };
    default:
      return null;
  }
}

function prunes({ seq, entries }: PruneRecord): StructuralAct<"prune"> {
  const edits = entries.find(isEdit)?.target;
  return { kind: "prune", seq, reach: pruneReach(entries), ...(edits !== undefined && { edits }) };
}

export function pruneReach(entries: readonly Pick<PruneEntry, "target" | "edit">[]): number {
  return entries.reduce((last, entry) => (isEdit(entry) ? last : Math.max(last, entry.target)), 0);
}

export interface LiveStructure {
  readonly compaction: number | null;
  readonly hiddenThrough: number;
  readonly prunes: readonly number[];
  readonly reach: readonly number[];
  readonly evidence: readonly number[];
  readonly undone: { readonly seq: number } | null;
}

/** What stands after every undo and redo, in order of seq. */
export function liveStructure(structure: readonly Structural[]): LiveStructure {
  const live = liveActs(structure);
  const compaction = newest(live.filter((act) => act.kind === "compaction"));
  const hiddenThrough = compaction?.covers[1] ?? 0;
  // One that was made after the compaction touches what is shown: the tail, or the request that stands.
  const stands = ({ seq, reach }: StructuralAct<"prune">): boolean =>
    reach > hiddenThrough || seq > (compaction?.seq ?? 0);
  const prunes = live.filter((act) => act.kind === "prune").filter(stands);
  const lastBatch = newest(live.filter((act) => act.kind === "prune" || act.kind === "compaction"))?.seq ?? 0;
  const evidence = live.filter((act) => act.kind === "evidence" && act.seq > lastBatch);
  const undo = newest(takenBack(live, structure));
  return {
    compaction: compaction?.seq ?? null,
    hiddenThrough,
    prunes: prunes.map((act) => act.seq),
    reach: prunes.map((act) => act.reach),
    evidence: evidence.map((act) => act.seq),
    undone: undo && undo.seq > lastBatch ? { seq: undo.seq } : null,
  };
}

export type UndoPlan =
  /** `dependents`: live records that build on the one taken back (compactions that fold it, edits of it) and count as taken back with it. */
  | {
      readonly kind: "undo";
      readonly of: number;
      readonly restores: "prune" | "compaction" | "undo";
      readonly dependents: readonly number[];
    }
  | { readonly kind: "refused"; readonly reason: "nothing-to-undo" | "nothing-to-redo" }
  | { readonly kind: "refused"; readonly reason: "not-undoable" | "already-undone"; readonly target: number }
  /** Another compaction stands where the one to bring back would stand: take that back first. */
  | { readonly kind: "refused"; readonly reason: "folded-by"; readonly target: number; readonly by: number };

/** Without a target: the newest live prune or compaction. An undo as target is a redo. */
export function planUndo(structure: readonly Structural[], target?: number): UndoPlan {
  const live = liveActs(structure);
  if (target === undefined) {
    const act = newest(live.filter((one) => one.kind === "prune" || one.kind === "compaction"));
    return act
      ? { kind: "undo", of: act.seq, restores: act.kind, dependents: [] }
      : { kind: "refused", reason: "nothing-to-undo" };
  }
  const act = structure.find((one) => one.seq === target);
  if (!act || act.kind === "evidence") return { kind: "refused", reason: "not-undoable", target };
  if (!live.includes(act)) return { kind: "refused", reason: "already-undone", target };
  if (act.kind === "undo") return planRedoOf(act, structure, live);
  const dependents = act.kind === "compaction" ? builtOn(act.seq, live) : [];
  return { kind: "undo", of: target, restores: act.kind, dependents };
}

/** Takes back the newest undo that still stands. */
export function planRedo(structure: readonly Structural[]): UndoPlan {
  const undo = newest(takenBack(liveActs(structure), structure));
  return undo ? planUndo(structure, undo.seq) : { kind: "refused", reason: "nothing-to-redo" };
}

type StructuralAct<K extends Structural["kind"]> = Extract<Structural, { kind: K }>;

/** What a record builds on: a compaction on the one it folds, an edit on the compaction whose summary it changes. */
function baseOf(act: Structural): number | null {
  if (act.kind === "compaction") return act.folds;
  return act.kind === "prune" ? (act.edits ?? null) : null;
}

/** The live records that build on this one, directly or through others. */
function builtOn(seq: number, live: readonly Structural[]): number[] {
  const removed = new Set([seq]);
  for (const act of live) if (removed.has(baseOf(act) ?? 0)) removed.add(act.seq);
  return [...removed].slice(1);
}

/** A compaction may come back only onto the one it folded, or two summaries would claim the same range. */
function planRedoOf(
  undo: StructuralAct<"undo">,
  structure: readonly Structural[],
  live: readonly Structural[],
): UndoPlan {
  const target = structure.find((one) => one.seq === undo.of);
  // A redo is taken back by undoing what it brought back, so that each act has one way to be reversed.
  if (!target || target.kind === "undo") return { kind: "refused", reason: "not-undoable", target: undo.seq };
  if (target.kind === "compaction") {
    const current = newest(live.filter((one) => one.kind === "compaction"));
    if (current && current.seq !== target.folds)
      return { kind: "refused", reason: "folded-by", target: undo.seq, by: current.seq };
    if ((current?.seq ?? null) !== target.folds) return { kind: "refused", reason: "not-undoable", target: undo.seq };
  }
  return { kind: "undo", of: undo.seq, restores: "undo", dependents: [] };
}

function liveActs(structure: readonly Structural[]): Structural[] {
  const bySeq = new Map(structure.map((act) => [act.seq, act]));
  const dead = new Set<number>();
  for (const act of structure) if (act.kind === "undo") flip(act.of, bySeq, dead);
  // What builds on a compaction that was taken back is not shown either; it comes back with it.
  for (const act of structure) if (dead.has(baseOf(act) ?? 0)) dead.add(act.seq);
  return structure.filter((act) => !dead.has(act.seq));
}

/** Takes an act back or brings it back; where it is itself an undo, its own target flips with it. */
function flip(seq: number, bySeq: ReadonlyMap<number, Structural>, dead: Set<number>): void {
  for (let next = bySeq.get(seq); next; next = next.kind === "undo" ? bySeq.get(next.of) : undefined) {
    if (!dead.delete(next.seq)) dead.add(next.seq);
  }
}

/** Live undos of a prune or a compaction: what a redo can bring back. What was taken back may be left out of a structure. */
function takenBack(live: readonly Structural[], structure: readonly Structural[]): StructuralAct<"undo">[] {
  const undos = new Set(structure.filter((act) => act.kind === "undo").map((act) => act.seq));
  return live.filter((act) => act.kind === "undo").filter((act) => !undos.has(act.of));
}

function newest<A extends Structural>(acts: readonly A[]): A | undefined {
  return acts.reduce<A | undefined>((best, act) => (best && best.seq > act.seq ? best : act), undefined);
}

/*
 * The live records of a thread: what a load brings, arranged for the view, and how they change with each record that is
 * appended. So a running conversation, a simulation and a playback fold forward without reading the log again.
 */

export const NOTHING_LIVE: LiveRecords = {
  compaction: null,
  systems: [],
  request: null,
  prunes: [],
  evidence: [],
  rules: NO_RULES,
  tail: [],
};

/** From the head and the records it refers to; records that the view doesn't need are passed over. */
export function liveRecords(head: Head, records: readonly LogRecord[]): LiveRecords {
  const messages = records.filter((record) => record.kind === "message");
  const compaction = records.find((record) => record.kind === "compaction" && record.seq === head.compaction);
  const live = compaction?.kind === "compaction" ? compaction : null;
  return {
    compaction: live,
    ...alwaysShown(messages, live?.systems ?? [], live?.request ?? null),
    prunes: records.filter((record) => record.kind === "prune").filter(({ seq }) => head.prunes.includes(seq)),
    evidence: records.filter((record) => record.kind === "evidence").filter(({ seq }) => head.evidence.includes(seq)),
    rules: liveRules(head.state),
    tail: messages.filter(({ seq }) => seq > head.hiddenThrough),
  };
}

/** The newest act that made the view and what it counted then; null without one, or if its summary was erased since. */
export function viewAct({ compaction, prunes }: LiveRecords): { seq: number; tokensAfter: number } | null {
  if (compaction !== null && compaction.summary.state === null) return null;
  const acts = compaction === null ? prunes : [compaction, ...prunes];
  return acts.filter(({ tokensAfter }) => tokensAfter > 0).toSorted((a, b) => b.seq - a.seq)[0] ?? null;
}

/** After one more record. An undo can't be folded forward: what it brings back must be loaded. */
export function liveAfter(live: LiveRecords, record: Exclude<LogRecord, { kind: "undo" }>): LiveRecords {
  switch (record.kind) {
    case "message":
      return { ...live, tail: [...live.tail, record] };
    case "evidence":
      return { ...live, evidence: [...live.evidence, record] };
    case "prune":
      return { ...live, evidence: [], prunes: [...live.prunes, record] };
    case "compaction": {
      const known = [...live.systems, ...(live.request === null ? [] : [live.request]), ...live.tail];
      return {
        compaction: record,
        ...alwaysShown(known, record.systems, record.request),
        prunes: live.prunes.filter(({ entries }) => pruneReach(entries) > record.covers[1]),
        evidence: [],
        rules: live.rules,
        tail: live.tail.filter(({ seq }) => seq > record.covers[1]),
      };
    }
    case "state":
      return "rules" in record.patch ? { ...live, rules: liveRules(record.patch) } : live;
    default:
      return live;
  }
}

function liveRules(state: Readonly<Record<string, unknown>>): LiveRecords["rules"] {
  return state["rules"] == null ? NO_RULES : readRules(state);
}

/** After several more records: in one step, because a list that grows by one copies all of it each time. */
export function liveAfterAll(live: LiveRecords, records: readonly Exclude<LogRecord, { kind: "undo" }>[]): LiveRecords {
  let folded = live;
  let messages: MessageRecord[] = [];
  const withMessages = (): LiveRecords =>
    messages.length === 0 ? folded : { ...folded, tail: [...folded.tail, ...messages] };
  for (const record of records) {
    if (record.kind === "message") messages.push(record);
    else {
      folded = liveAfter(withMessages(), record);
      messages = [];
    }
  }
  return withMessages();
}

function alwaysShown(messages: readonly MessageRecord[], systems: readonly number[], request: number | null) {
  const hoisted = new Set(systems);
  const found = new Map(messages.filter(({ seq }) => hoisted.has(seq) || seq === request).map((one) => [one.seq, one]));
  return {
    systems: [...found.values()].filter(({ seq }) => hoisted.has(seq)),
    request: request === null ? null : (found.get(request) ?? null),
  };
}

/*
 * A view folded on from the one before it: with every message that is said the whole fold would cost the thread again.
 */

/** A view and the live records it was folded from. */
export interface Folded<M> {
  readonly live: LiveRecords;
  readonly entries: readonly ViewEntry<M>[];
}

/** The same as `view(live)`: what was folded before is taken over where records were only added since. */
export function viewAfter<M>(before: Folded<M>, live: LiveRecords, options: ViewOptions<M>): readonly ViewEntry<M>[] {
  if (!isGrown(before, live, options.shape)) return view(live, options);
  const visible = visibleMessage(live, options);
  const additionTargets = new Set(live.evidence.slice(before.live.evidence.length).map(({ of }) => of));
  const entries = before.entries.slice();
  if (additionTargets.size > 0) {
    const records = [...live.systems, ...live.tail, ...(live.request === null ? [] : [live.request])];
    const bySeq = new Map(records.filter(({ seq }) => additionTargets.has(seq)).map((record) => [record.seq, record]));
    for (const [index, entry] of entries.entries()) {
      const record = entry.seq === null ? undefined : bySeq.get(entry.seq);
      if (record === undefined) continue;
      const earlier = live.tail[live.tail.indexOf(record) - 1];
      const digest = entry.source === "request" ? (live.compaction?.summary.digest ?? null) : null;
      entries[index] = { source: entry.source, ...withDigest(visible(record, earlier), digest) };
    }
  }
  for (let index = before.live.tail.length; index < live.tail.length; index += 1)
    entries.push({ source: "message", ...visible(live.tail[index]!, live.tail[index - 1]) });
  return entries;
}

/** Nothing but messages and evidence came, and what stands behind a summary was not the first that was said after it. */
function isGrown<M>({ live: before, entries }: Folded<M>, live: LiveRecords, shape: Shape<M>): boolean {
  const isSaid = ({ source, message }: ViewEntry<M>) =>
    (source === "message" || source === "request") && shape.role(message) !== "system";
  return (
    before.compaction === live.compaction &&
    before.systems === live.systems &&
    before.request === live.request &&
    before.prunes === live.prunes &&
    before.rules === live.rules &&
    beginsWith(live.tail, before.tail) &&
    beginsWith(live.evidence, before.evidence) &&
    ((live.compaction === null && live.rules.list.length === 0) || entries.some(isSaid))
  );
}

function beginsWith<T>(list: readonly T[], start: readonly T[]): boolean {
  return list === start || (list.length >= start.length && start.every((item, index) => item === list[index]));
}

/** The message as it is sent: with its addition. */
export function sent<M>({ message, addition }: ViewEntry<M>, shape: Shape<M>): M {
  return addition === null ? message : shape.join(message, shape.turn("user", addition));
}
