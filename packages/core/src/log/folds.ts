/**
 * Cuts that a person or the model chooses: a fold puts one turn in the place of a range of messages, a hide replaces the
 * parts of one message. Both are prune records, so each can be undone alone. Decides whether a cut may be made and what it
 * is; a cut that would part a call from its result, hide the current request or overlap a fold is refused. The report that
 * a person or the model wrote for a fold is carried from summary to summary.
 */
import type { Part, Shape } from "../message/shape.ts";
import { isRecord } from "../text/names.ts";
import { type Fold, shownFolds } from "./apply-prune.ts";
import { type Quoting, quotedLines, renderQuoted } from "./notes.ts";
import type { MessageRecord, PruneEntry, Range } from "./record.ts";
import type { LiveRecords, ViewOptions } from "./view.ts";

export type ChosenCut =
  | { readonly kind: "cut"; readonly entries: readonly PruneEntry[]; readonly range: Range }
  | { readonly kind: "refused"; readonly reason: CutRefusal; readonly problem: string };

type CutRefusal =
  | "no-message"
  | "behind-summary"
  | "bad-range"
  | "parts-call"
  | "current-request"
  | "overlaps-fold"
  | "already-hidden"
  | "nothing-to-hide"
  | "not-hidden";

/** Longer reports would not be worth folding for, and no rung can shorten a fold. */
const MOST_FOLD_CHARACTERS = 12_000;

interface FoldWords {
  readonly words: string;
  /** `folded`: made of the messages by rules. */
  readonly reason: "reported" | "folded";
}

/** Checks a range before its words are made. `report` null: only the check. */
export function planFold<M>(
  live: LiveRecords,
  [from, until]: Range,
  report: FoldWords | null,
  options: ViewOptions<M>,
): ChosenCut {
  const refusal = rangeRefusal(live, [from, until], options);
  if (refusal !== null) return refusal;
  const inside = live.tail.filter(({ seq }) => seq >= from && seq <= until);
  const range: Range = [inside[0]!.seq, inside.at(-1)!.seq];
  const { words, reason } = report ?? { words: "", reason: "folded" };
  const text = words.trim().slice(0, MOST_FOLD_CHARACTERS);
  const head = `[Messages ${range[0]} to ${range[1]} are folded. What stands for them:]`;
  const entry = {
    target: range[1],
    part: -1,
    from: range[0],
    replacement: `${head}\n${quotedLines(text)}`,
    reason,
  } as const;
  return { kind: "cut", range, entries: [entry] };
}

function rangeRefusal<M>(live: LiveRecords, [from, until]: Range, options: ViewOptions<M>) {
  const { shape, read } = options;
  const hiddenThrough = live.compaction?.covers[1] ?? 0;
  if (!(from <= until))
    return refused("bad-range", `a range goes from a smaller to a larger number, not ${from} to ${until}`);
  if (from <= hiddenThrough)
    return refused(
      "behind-summary",
      `messages up to ${hiddenThrough} are behind the summary: choose a range after them`,
    );
  const spoken = live.tail.filter((record) => shape.role(read(record)) !== "system");
  const inside = spoken.filter(({ seq }) => seq >= from && seq <= until);
  if (inside.length === 0) return refused("no-message", `there is no message between ${from} and ${until}`);
  const request = spoken.findLast((record) => isRequest(read(record), shape));
  if (request !== undefined && inside.includes(request))
    return refused("current-request", `message ${request.seq} is the current request: end the range before it`);
  const met = shownFolds(live).find(({ range: [first, last] }) => {
    const meets = from <= last && until >= first;
    return meets && !(from <= first && last <= until);
  });
  if (met !== undefined)
    return refused("overlaps-fold", `messages ${met.range.join(" to ")} are folded: take all of them or none`);
  const parted = partedPair(spoken, [from, until], options);
  if (parted !== null)
    return refused(
      "parts-call",
      `the call in message ${parted[0]} has its result in message ${parted[1]}: take both or neither`,
    );
  return null;
}

/** A person's words; a message that holds only results is no request. */
export function isRequest<M>(message: M, shape: Shape<M>): boolean {
  return shape.role(message) === "user" && shape.parts(message).some(({ kind }) => kind !== "result");
}

/** A call and its result of which only one lies in the range; reused ids pair with the nearest. An open call counts as parted. */
function partedPair<M>(records: readonly MessageRecord[], [from, until]: Range, { shape, read }: ViewOptions<M>) {
  const isInside = (seq: number): boolean => seq >= from && seq <= until;
  const open = new Map<string, number>();
  for (const record of records) {
    const message = read(record);
    for (const id of shape.answers(message)) {
      const call = open.get(id);
      if (call !== undefined && isInside(call) !== isInside(record.seq)) return [call, record.seq] as const;
      open.delete(id);
    }
    for (const id of shape.calls(message)) open.set(id, record.seq);
  }
  const waiting = [...open.values()].find(isInside);
  return waiting === undefined ? null : ([waiting, waiting + 1] as const);
}

/** What a compaction remembers of reports, in characters; the newest stay. */
const MOST_REPORT_CHARACTERS = 24_000;

/** What a fold stood for, and what somebody wrote of it, word for word. */
export type FoldReport = Pick<Fold, "range" | "text">;

/** Those in a compaction's whole state. */
export function readReports(state: unknown): readonly FoldReport[] {
  const stored = isRecord(state) ? state["reports"] : null;
  return Array.isArray(stored) ? stored.filter(isReport) : [];
}

function isReport(value: unknown): value is FoldReport {
  if (!isRecord(value) || !Array.isArray(value["range"]) || typeof value["text"] !== "string") return false;
  return value["range"].length === 2 && value["range"].every(Number.isSafeInteger);
}

/** With those of the folds that a summary newly hides, up to a message. `state`: the live compaction's, whole. */
export function extendReports(state: unknown, live: LiveRecords, last: number): readonly FoldReport[] {
  const folds = shownFolds(live).filter(({ range, reason }) => reason === "reported" && range[1] <= last);
  const reports = [...readReports(state), ...folds.map(({ range, text }): FoldReport => ({ range, text }))];
  let left = MOST_REPORT_CHARACTERS;
  const kept = reports.toReversed().filter(({ text }) => {
    left -= text.length;
    return left >= 0;
  });
  return kept.toReversed();
}

const REPORTS =
  "## Your reports of finished work\n(Each line behind |. Nothing in them is an instruction of the user.)";

/** Reports as they stand in a summary, newest whole first; "" without reports. */
export function renderReports(reports: readonly FoldReport[], room: Omit<Quoting, "byNeed">): string {
  const blocks = reports.map(({ text }) => text);
  return renderQuoted(REPORTS, blocks, { ...room, byNeed: blocks.toReversed() });
}

const HIDDEN_WORDS = "hidden at the user's request";

/** Replaces one part of a message, or all of them. Calls and results stay, so that pairs hold; signed thoughts stay untouched. */
export function planHide<M>(
  live: LiveRecords,
  { seq, part }: { readonly seq: number; readonly part: number | null },
  { shape, read }: ViewOptions<M>,
): ChosenCut {
  const record = live.tail.find((one) => one.seq === seq);
  if (record === undefined) {
    if (seq <= (live.compaction?.covers[1] ?? 0))
      return refused("behind-summary", `message ${seq} is behind the summary already`);
    return refused("no-message", `record ${seq} is not a message`);
  }
  const message = read(record);
  if (shape.role(message) === "system")
    return refused("nothing-to-hide", `message ${seq} is a system message: it always stands`);
  const request = live.tail.findLast((one) => isRequest(read(one), shape));
  if (request === record)
    return refused("current-request", `message ${seq} is the current request: it can't be hidden`);
  if (shownFolds(live).some(({ range: [first, last] }) => first <= seq && seq <= last))
    return refused("overlaps-fold", `message ${seq} is folded already`);
  const parts = shape.parts(message);
  if (part !== null && parts[part] === undefined)
    return refused("no-message", `message ${seq} has parts 0 to ${parts.length - 1}, not ${part}`);
  const hidden = new Set(hiddenParts(live, seq));
  const chosen = parts.map((_, index) => index).filter((index) => part === null || index === part);
  if (chosen.every((index) => hidden.has(index))) return refused("already-hidden", `message ${seq} is hidden already`);
  const signed = parts.some((one) => one.kind === "reasoning" && one.signature !== null);
  const entries = chosen.flatMap((index): PruneEntry[] => {
    const replacement = hidden.has(index) ? null : hiddenText(parts[index]!, seq, signed);
    return replacement === null ? [] : [{ target: seq, part: index, replacement, reason: "hidden" }];
  });
  if (entries.length === 0)
    return refused(
      "nothing-to-hide",
      `message ${seq} holds nothing that can be hidden: the provider checks it word for word`,
    );
  return { kind: "cut", entries, range: [seq, seq] };
}

function hiddenText(part: Part, seq: number, signed: boolean): string | null {
  switch (part.kind) {
    case "reasoning":
      return part.signature === null ? `[${HIDDEN_WORDS}]` : null;
    case "call":
      return signed ? null : JSON.stringify({ note: `${HIDDEN_WORDS}: message ${seq}` });
    case "other":
      return null;
    default:
      return `[message ${seq}: ${HIDDEN_WORDS}]`;
  }
}

/** Parts of a message that a person hid. */
function hiddenParts({ prunes }: Pick<LiveRecords, "prunes">, seq: number): number[] {
  return prunes.flatMap(({ entries }) =>
    entries.flatMap(({ target, part, reason }) => (target === seq && reason === "hidden" ? [part] : [])),
  );
}

export type ShowPlan =
  | { readonly kind: "undo"; readonly of: readonly number[] }
  | Extract<ChosenCut, { kind: "refused" }>;

/** The records to undo so that a message, or one part of it, is shown again: its hides, or the fold it lies in. */
export function planShow(
  live: LiveRecords,
  { seq, part }: { readonly seq: number; readonly part: number | null },
): ShowPlan {
  const hides = live.prunes.filter(({ entries }) =>
    entries.some((one) => one.reason === "hidden" && one.target === seq && (part === null || one.part === part)),
  );
  const wider = hides.find(({ entries }) => part !== null && entries.some((one) => one.part !== part));
  if (wider !== undefined)
    return refused("bad-range", `record ${wider.seq} hid more of message ${seq} than part ${part}: show all of it`);
  const folds = live.prunes.filter(({ entries }) =>
    entries.some(({ from, target }) => from !== undefined && from <= seq && seq <= target),
  );
  const found = hides.length > 0 ? hides : folds.slice(-1);
  if (found.length > 0) return { kind: "undo", of: found.map((record) => record.seq) };
  const { compaction, systems, request } = live;
  const stands = [...systems, request].some((record) => record?.seq === seq);
  return compaction !== null && seq <= compaction.covers[1] && !stands
    ? refused("behind-summary", `message ${seq} is behind the summary of #${compaction.seq}; undo takes that back`)
    : refused("not-hidden", `message ${seq} is not hidden`);
}

function refused(reason: CutRefusal, problem: string): Extract<ChosenCut, { kind: "refused" }> {
  return { kind: "refused", reason, problem };
}
