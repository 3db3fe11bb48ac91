/**
 * The records of a thread's log: the only truth. A record is appended once and never edited; what the prompt shows is a
 * fold over them (`view.ts`). Every record carries the format version, and readers accept every past one.
 * `seq` starts at 1 and has no gaps. Bodies are JSON text, kept byte for byte as given.
 */
import type { Dialect } from "../message/dialects.ts";
import type { SummaryEdit } from "./apply-prune.ts";

/**
 * 3: a compaction may store what changed in its state since the one it folds (`head.ts`).
 * 4: a message may be in a dialect that readers of 3 don't know.
 * 5: a prune may fold a range, hide what a person chose or edit a summary; a state may hold rules. What readers of 3 know is written as 3.
 */
export const FORMAT_VERSION = 5;

export type Origin = "user" | "model" | "tool" | "file" | "web" | "import" | "injected" | "aborted";

/** Inclusive range of sequence numbers. */
export type Range = readonly [first: number, last: number];

interface RecordBase {
  readonly v: number;
  readonly seq: number;
  /** ISO 8601, from the caller's clock. */
  readonly at: string;
  readonly runId: string | null;
}

export interface MessageRecord extends RecordBase {
  readonly kind: "message";
  readonly id: string;
  readonly dialect: Dialect;
  readonly origin: Origin;
  /** Of an answer by a model that binds its reasoning: the hash of the request it answers (message/bound-reasoning.ts). */
  readonly prefix?: string;
  /** The message as JSON text, exactly as given. Erased by a redaction: then it is a skeleton with the same role and calls. */
  readonly body: string;
}

/** Replaces the text of some parts in the prompt; the originals stay in the log. */
export interface PruneRecord extends RecordBase {
  readonly kind: "prune";
  readonly entries: readonly PruneEntry[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export interface PruneEntry {
  /** The message record's seq, and the index of the part in `shape.parts(message)`; -1 for a fold. */
  readonly target: number;
  readonly part: number;
  /** Set for a fold: one turn with the replacement is shown instead of the messages from this one to the target. */
  readonly from?: number;
  /** Shown instead of a text, a result or an image; JSON text instead of a call's input. */
  readonly replacement: string;
  readonly reason: PruneReason;
  /** Set for a change of a summary: the target is its compaction. */
  readonly edit?: SummaryEdit;
}

export type PruneReason = Chosen | "superseded" | "repeated" | "stale-output" | "long-input" | "old-image" | "clamped";
/** By a person or the model, not by the planner. `reported`: folded into words that somebody wrote, not into an extract. */
export type Chosen = "hidden" | "folded" | "reported" | "edited";

/** `rollover`: a fresh window without prose. */
export type Rung = "prune" | "summarize" | "extract" | "clamp" | "collapse" | "rollover";

/** Hides a range and shows a summary instead. */
export interface CompactionRecord extends RecordBase {
  readonly kind: "compaction";
  /** The newly hidden range only; hidden in all = the union along `folds`, contiguous from the first message. */
  readonly covers: Range;
  /** The compaction this one absorbs. */
  readonly folds: number | null;
  /** The user turn that is being worked on, when the cut lies inside it: shown verbatim after the summary. */
  readonly request: number | null;
  /** System messages anywhere in the hidden range: they are hoisted to the front of the view, never summarized away. */
  readonly systems: readonly number[];
  readonly summary: StoredSummary;
  readonly rung: Rung;
  readonly reason: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The part file with the hidden originals, relative to the thread's workspace; null when there is no workspace. */
  readonly archive: string | null;
  /** The compaction on whose whole state the changes in this one's rest; null or absent: it holds its state whole. */
  readonly checkpoint?: number | null;
  /** Hashes of the texts of the rules in force: the view shows each of them word for word. Absent without rules. */
  readonly rules?: readonly string[];
}

/** `pair`: a user turn and an acknowledgement; `user`: a user turn alone; `system`: part of the one leading system message. */
export type SummaryFormat = "pair" | "user" | "system";

/**
 * `text` is what the prompt shows, frozen; `state` is the typed summary (core/summary) that the next one folds, whole or
 * as what changed (`head.ts`).
 */
export interface StoredSummary {
  readonly format: SummaryFormat;
  readonly text: string;
  /** After a collapse: what the hidden open tool calls did, shown at the end of the request's turn. */
  readonly digest: string | null;
  readonly state: unknown;
}

export interface PinRecord extends RecordBase {
  readonly kind: "pin";
  readonly target: number;
  readonly on: boolean;
}

/** Takes back a prune, a compaction or another undo (which makes it a redo). */
export interface UndoRecord extends RecordBase {
  readonly kind: "undo";
  readonly of: number;
}

/** What the provider reported for the request that produced message `of`. `input` is the whole prompt, cached part included. */
export interface UsageRecord extends RecordBase {
  readonly kind: "usage";
  readonly of: number;
  readonly model: string;
  /** Which view was measured: the live compaction and newest live prune then, the rules (`rulesKey`), and the prompt's hash. */
  readonly measured: {
    readonly compaction: number | null;
    readonly prune: number | null;
    /** Left out of a thread without rules. */
    readonly rules?: string;
    readonly promptHash: string | null;
  };
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The model's factor after this report (core/tokens), so that the head can be folded without a tokenizer; null: not learned. */
  readonly factor: number | null;
  /** Why the report can't be believed, if so; the record is kept and never anchors a count. */
  readonly flaw?: UsageFlaw | null;
}

export type UsageFlaw = "zero" | "over-window" | "implausible";

/** What memory and recall added to one question. */
export interface EvidenceRecord extends RecordBase {
  readonly kind: "evidence";
  readonly of: number;
  readonly text: string;
  /** What it rests on, by which it is found when that is erased: facts by id, messages as `thread#seq`. */
  readonly ids: readonly string[];
  /** Of the text; it stays when the text is erased. */
  readonly hash: string;
}

export interface StateRecord extends RecordBase {
  readonly kind: "state";
  /** The keys of the thread's state that change, with their new values; null takes a key out. */
  readonly patch: Readonly<Record<string, unknown>>;
}

/** A receipt: something happened that a person may ask about later. */
export interface EventRecord extends RecordBase {
  readonly kind: "event";
  readonly event: { readonly type: string; readonly [detail: string]: unknown };
}

export type LogRecord =
  | MessageRecord
  | PruneRecord
  | CompactionRecord
  | PinRecord
  | UndoRecord
  | UsageRecord
  | EvidenceRecord
  | StateRecord
  | EventRecord;
