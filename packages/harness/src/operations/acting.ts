/** Acts on a thread. Each one is a record that can be looked at later, and most of them can be taken back. */
import { checkThreadId } from "@palimpsest/core/internal/log";
import { z } from "zod";
import { eraseMessage } from "../features/memory/erase-message.ts";
import { compactInHome, forkInHome, takeBackInHome } from "../home/home-acts.ts";
import type { Home } from "../home/open-home.ts";
import { pin as pinMessage, redo as redoNewest, type Undone, undo as undoRecord, withWriter } from "../thread/acts.ts";
import { verify as verifyThread } from "../thread/audit.ts";
import type { ThreadOutcome } from "../thread/sized-thread.ts";
import {
  busyThread,
  leasedValue,
  list,
  missingThread,
  OperationError,
  type OperationOptions,
  operation,
  seq,
  thread,
  unwritten,
} from "./operation.ts";

type CompactResult = { readonly thread: string; readonly dryRun?: true } & Exclude<
  ThreadOutcome,
  { readonly kind: "missing" }
>;

export const compact = operation({
  name: "compact",
  summary: "Hide the older part of a thread behind a summary; a dry run writes nothing",
  method: "POST",
  path: "/api/threads/{id}/compact",
  spends: "tokens",
  input: z.strictObject({
    thread,
    dryRun: z.boolean().optional(),
    focus: z.string().min(1).max(10_000).optional().describe("What the summary should keep in view."),
    window: z.int().min(1).optional().describe("The model's window in tokens."),
  }),
  output: z.looseObject({ thread, kind: z.enum(["compacted", "unchanged"]), dryRun: z.literal(true).optional() }),
  refusal(outcome: CompactResult) {
    if (outcome.kind !== "unchanged") return null;
    if (outcome.reason === "busy") return busyThread(outcome.thread);
    return outcome.reason === "no-history" ? new OperationError("no-history", outcome.detail) : null;
  },
  async run(home, { thread: id, dryRun = false, focus, window }, { signal, onCompaction }): Promise<CompactResult> {
    const on = onCompaction ?? (() => {});
    const outcome = await compactInHome(home, id, { dryRun, focus, window, signal, on });
    if (outcome.kind === "missing") throw missingThread(id);
    if (outcome.kind === "unchanged" && outcome.reason === "aborted") signal.throwIfAborted();
    return { thread: id, ...outcome, ...(dryRun && { dryRun: true as const }) };
  },
});

const undone = z.strictObject({
  thread,
  undone: seq.optional(),
  redone: seq.optional(),
  seq,
  dependents: list(seq)
    .optional()
    .describe("Records that build on it and were taken back with it: later compactions, edits of its summary."),
});

export const undo = operation({
  name: "undo",
  summary: "Take back the newest compaction or prune, or the one at a record",
  method: "POST",
  path: "/api/threads/{id}/undo",
  input: z.strictObject({ thread, seq: seq.optional() }),
  output: undone,
  run: (home, { thread: id, seq: target }, options) =>
    takeBack(home, id, (writer) => undoRecord(writer, target), options),
});

export const redo = operation({
  name: "redo",
  summary: "Take back the newest undo",
  method: "POST",
  path: "/api/threads/{id}/redo",
  input: z.strictObject({ thread }),
  output: undone,
  run: (home, { thread: id }, options) => takeBack(home, id, redoNewest, options),
});

interface Undoing {
  readonly thread: string;
  readonly undone?: number;
  readonly redone?: number;
  readonly seq: number;
  readonly dependents?: readonly number[];
}

async function takeBack(
  home: Home,
  id: string,
  act: typeof redoNewest,
  { note = () => {} }: OperationOptions,
): Promise<Undoing> {
  const leased = await takeBackInHome(home, id, act, (error) =>
    note(`part files: ${String(error)}; "palimpsest doctor --rebuild" makes them.`),
  );
  const value = leasedValue(id, leased);
  switch (value.kind) {
    case "undone":
      return {
        thread: id,
        undone: value.of,
        seq: value.seq,
        ...(value.dependents.length > 0 && { dependents: value.dependents }),
      };
    case "redone":
      return { thread: id, redone: value.of, seq: value.seq };
    case "refused":
      throw new OperationError(value.reason, refusal(id, value));
    default:
      throw unwritten(id, value.kind);
  }
}

function refusal(id: string, refused: Extract<Undone, { readonly kind: "refused" }>): string {
  switch (refused.reason) {
    case "nothing-to-undo":
      return `nothing to undo: no compaction and no prune of "${id}" stands`;
    case "nothing-to-redo":
      return `nothing to redo: no undo of "${id}" stands`;
    case "not-undoable":
      return `record ${refused.target} of "${id}" can't be taken back: only compactions, prunes and undos can`;
    case "already-undone":
      return `record ${refused.target} of "${id}" is taken back already`;
    case "folded-by":
      return `record ${refused.target} of "${id}" is folded into compaction ${refused.by}: take that back first`;
  }
}

export const fork = operation({
  name: "fork",
  summary: "Make a thread that shares this one's records up to a seq",
  method: "POST",
  path: "/api/threads/{id}/fork",
  status: 201,
  input: z.strictObject({
    thread,
    at: z.int().min(0).optional().describe("The last record to share; without it all of them."),
    as: z.string().optional().describe("The new thread's id."),
  }),
  output: z.strictObject({ thread, parent: thread, at: z.int() }),
  async run(home, { thread: parent, at: given, as }) {
    const checked = as === undefined ? null : checkThreadId(as);
    if (checked?.kind === "invalid") throw new OperationError("bad-thread-id", checked.problem);
    const at = given ?? (await home.store.head(parent))?.version ?? 0;
    const forked = await forkInHome(home, parent, { as, at });
    switch (forked.kind) {
      case "forked":
        return { thread: forked.threadId, parent, at: forked.at };
      case "exists":
        throw new OperationError("exists", `thread ${JSON.stringify(forked.threadId)} exists already`);
      case "beyond-end":
        throw new OperationError("beyond-end", `thread "${parent}" has no record ${at}: choose an earlier one`);
      case "workspace-full":
        throw new OperationError("workspace-full", `not forked: ${forked.message}`);
      case "missing":
        throw missingThread(parent);
    }
  },
});

export const pin = operation({
  name: "pin",
  summary: "Pin a message, so that every summary quotes it word for word",
  method: "POST",
  path: "/api/threads/{id}/pin",
  input: z.strictObject({ thread, seq, on: z.boolean().optional().describe("False takes the pin off.") }),
  output: z.strictObject({ thread, pinned: seq, on: z.boolean() }),
  async run(home, { thread: id, seq: target, on = true }) {
    const leased = await withWriter(home, id, (writer) => pinMessage(writer, target, on ? "on" : "off"));
    const { kind } = leasedValue(id, leased);
    if (kind === "no-message") throw noMessage(id, target);
    if (kind !== "committed") throw unwritten(id, kind);
    return { thread: id, pinned: target, on };
  },
});

const names = list(z.string());

export const redact = operation({
  name: "redact",
  summary: "Erase a message's text for good, with what was made of it",
  method: "POST",
  path: "/api/threads/{id}/redact",
  input: z.strictObject({ thread, seq }),
  output: z.strictObject({
    thread,
    redacted: seq,
    before: z.literal(true).optional().describe("Its text had been erased before; what was made of it is erased now."),
    bodies: z.unknown(),
    threads: names,
    lentTo: names,
    facts: names,
    shownIn: names,
    copies: names,
    summaries: z
      .strictObject({ rebuilt: z.int(), erased: z.int() })
      .describe("Summaries that stood for it: made anew from what is left, without a model, or erased."),
    rules: names.describe("Rules of the thread that stood in it: they ended, and their words are erased."),
    repeatedIn: names.describe(
      "Lookups that showed it and copies in sub-agents' threads, as thread#seq: erased whole.",
    ),
    quotedIn: names.describe("Later messages that still quote it, as thread#seq: they are not erased."),
    busy: names,
    left: z.string().nullable().describe("A file of the database that another process still holds with the words."),
  }),
  async run(home, { thread: id, seq: target }) {
    const result = await eraseMessage(await home.eraseDeps(), id, target);
    switch (result.kind) {
      case "redacted":
      case "already-redacted": {
        const { kind, id: _, seq: redacted, evidenceIn: lentTo, scrubbed, ...erased } = result;
        const before = kind === "already-redacted" ? { before: true as const } : {};
        const left = scrubbed.kind === "held" ? scrubbed.file : null;
        return { thread: id, redacted, ...before, ...erased, lentTo, left };
      }
      case "no-message":
        throw noMessage(id, target);
      case "busy":
        throw busyThread(result.threadId, result);
      default:
        throw unwritten(id, result.kind);
    }
  },
});

function noMessage(id: string, at: number): OperationError {
  return new OperationError("no-message", `record ${at} of "${id}" is not a message`);
}

export const verify = operation({
  name: "verify",
  summary: "Check the thread's hash chain, record by record",
  method: "POST",
  path: "/api/threads/{id}/verify",
  input: z.strictObject({ thread }),
  output: z.strictObject({
    ok: z.boolean(),
    records: z.int(),
    redacted: list(z.int()),
    rewritten: list(z.int()).describe(
      "Compactions whose summary held redacted words: made anew without them, or erased.",
    ),
    firstBad: z.unknown().optional(),
  }),
  async run(home, { thread: id }) {
    const verdict = await verifyThread(home, id);
    if (verdict.kind === "missing") throw missingThread(id);
    const { records, redacted, rewritten } = verdict;
    const firstBad = verdict.kind === "broken" ? verdict.firstBad : null;
    return { ok: firstBad === null, records, redacted, rewritten, ...(firstBad !== null && { firstBad }) };
  },
});

const callId = z.string().max(1000).describe("A call's id.");
const answer = z.enum(["yes", "no"]);

export const approvals = operation({
  name: "approvals",
  summary: "The calls that wait for approval, with their arguments and what was answered so far",
  method: "GET",
  path: "/api/threads/{id}/approvals",
  input: z.strictObject({ thread }),
  output: z.strictObject({
    thread,
    approvals: list(
      z.strictObject({
        id: callId,
        name: z.string(),
        input: z.unknown(),
        answer: answer.nullable(),
        reason: z.string().nullable(),
      }),
    ),
  }),
  async run({ store }, { thread: id }) {
    // Loads the agent, which no other act here needs.
    const { waitingCalls } = await import("../agent/approval.ts");
    return { thread: id, approvals: await waitingCalls(store, id) };
  },
});

export const approve = operation({
  name: "approve",
  summary: "Answer a call that waits; the next run without a new message acts on it",
  method: "POST",
  path: "/api/threads/{id}/approve",
  input: z.strictObject({
    thread,
    call: callId,
    answer,
    reason: z.string().max(10_000).optional().describe("Of a refusal: the model reads it."),
  }),
  output: z.strictObject({ thread, call: callId, answer, open: list(callId) }),
  async run(home, { thread: id, call, answer: said, reason }) {
    const { approve: answerCall } = await import("../agent/approval.ts");
    const leased = await withWriter(home, id, (writer) => answerCall(writer, { callId: call, answer: said, reason }));
    const outcome = leasedValue(id, leased);
    if (outcome.kind === "not-pending")
      throw new OperationError("not-pending", `no call ${JSON.stringify(call)} waits for approval`);
    if (outcome.kind !== "recorded") throw unwritten(id, outcome.kind);
    return { thread: id, call, answer: said, open: outcome.open };
  },
});
