/** Acts by which people shape a thread's prompt: standing rules, notes, and cuts they choose. Each is one record. */
import { addRule, editRule, endRule, type Note, type Rule, restoreRule } from "@palimpsest/core/internal/log";
import { z } from "zod";
import type { Home } from "../home/open-home.ts";
import { withWriter } from "../thread/acts.ts";
import {
  type CutRequest,
  type CutResult,
  changeNote,
  changeRules,
  cutThread,
  editSummary,
  showMessage,
  summaryItems,
  threadNotes,
  threadRules,
} from "../thread/chosen.ts";
import type { Writer } from "../thread/writer.ts";
import { leasedValue, list, missingThread, OperationError, operation, seq, thread, unwritten } from "./operation.ts";

const ruleText = z.string().min(1).max(2_000).describe("The rule, in one sentence.");
const ruleId = z.string().min(1).max(20).describe("A rule's id, such as r1.");

const rule = z.strictObject({
  id: z.string(),
  text: z.string(),
  status: z.enum(["active", "proposed", "ended"]).describe("Only active rules are shown to the model."),
  scope: z.enum(["thread", "user", "agent", "file"]),
  by: z.enum(["recognized", "hand", "model"]),
  source: seq.nullable().describe("The message it stands in; null if it was set by hand."),
  at: z.string(),
  ended: z.string().optional().describe("Why it ended: the rule in its place, or a word."),
});

export const rules = operation({
  name: "rules",
  summary: "The standing rules of a thread",
  method: "GET",
  path: "/api/threads/{id}/rules",
  input: z.strictObject({ thread }),
  output: z.strictObject({ thread, rules: list(rule) }),
  tool: {
    title: "Standing rules",
    description: "The standing rules of a conversation, which hold in all its later turns.",
  },
  async run(home, { thread: id }) {
    const stored = await threadRules(home, id);
    if (stored === null) throw missingThread(id);
    return { thread: id, rules: stored.list.map((one) => one) };
  },
});

const changedRule = z.strictObject({ thread, rule, ended: list(rule) });

interface RuleChanged {
  readonly thread: string;
  readonly rule: Rule;
  readonly ended: readonly Rule[];
}

export const addedRule = operation({
  name: "add-rule",
  summary: "Set a standing rule; one that it contradicts ends",
  method: "POST",
  path: "/api/threads/{id}/rules",
  status: 201,
  input: z.strictObject({ thread, text: ruleText }),
  output: changedRule,
  run: (home, { thread: id, text }) => ruleChange(home, id, (now, at) => addRule(now, { text }, at)),
});

export const editedRule = operation({
  name: "edit-rule",
  summary: "Give a rule other words",
  method: "POST",
  path: "/api/threads/{id}/edit-rule",
  input: z.strictObject({ thread, rule: ruleId, text: ruleText }),
  output: changedRule,
  run: (home, { thread: id, rule: of, text }) => ruleChange(home, id, (now, at) => editRule(now, of, text, at)),
});

export const endedRule = operation({
  name: "end-rule",
  summary: "End a rule: it is no longer shown",
  method: "POST",
  path: "/api/threads/{id}/end-rule",
  input: z.strictObject({ thread, rule: ruleId }),
  output: changedRule,
  run: (home, { thread: id, rule: of }) => ruleChange(home, id, (now, at) => endRule(now, of, at)),
});

export const restoredRule = operation({
  name: "restore-rule",
  summary: "Put an ended rule or a proposal in force",
  method: "POST",
  path: "/api/threads/{id}/restore-rule",
  input: z.strictObject({ thread, rule: ruleId }),
  output: changedRule,
  run: (home, { thread: id, rule: of }) => ruleChange(home, id, (now, at) => restoreRule(now, of, at)),
});

async function ruleChange(home: Home, id: string, act: Parameters<typeof changeRules>[1]): Promise<RuleChanged> {
  const change = await held(home, id, (writer) => changeRules(writer, act));
  if (change.kind === "refused") throw new OperationError("refused", change.problem);
  if (change.kind !== "changed") throw unwritten(id, change.kind);
  return { thread: id, rule: change.rule, ended: change.ended };
}

const note = z.strictObject({
  name: z.string(),
  text: z.string(),
  revision: z.int(),
  by: z.enum(["model", "person"]),
  at: z.string(),
  cites: list(z.int()),
});

export const notes = operation({
  name: "notes",
  summary: "The model's notes in a thread",
  method: "GET",
  path: "/api/threads/{id}/notes",
  input: z.strictObject({ thread }),
  output: z.strictObject({ thread, notes: list(note) }),
  async run(home, { thread: id }) {
    const stored = await threadNotes(home, id);
    if (stored === null) throw missingThread(id);
    return { thread: id, notes: stored.map((one) => one) };
  },
});

export const writtenNote = operation({
  name: "write-note",
  summary: "Write or delete a note, if nobody has changed it since it was read",
  method: "POST",
  path: "/api/threads/{id}/notes",
  input: z.strictObject({
    thread,
    name: z.string().min(1).max(40),
    text: z.string().max(16_384).describe("Empty: the note is deleted."),
    revision: z.int().min(0).describe("The revision that was read; 0 for a new note."),
  }),
  output: z.strictObject({ thread, note: note.nullable() }),
  async run(home, { thread: id, ...write }): Promise<{ readonly thread: string; readonly note: Note | null }> {
    const change = await held(home, id, (writer) => changeNote(writer, write, "person"));
    if (change.kind === "refused")
      throw new OperationError(change.reason === "stale-note" ? "changed-since" : "refused", change.problem);
    if (change.kind !== "written") throw unwritten(id, change.kind);
    return { thread: id, note: change.note };
  },
});

const part = z.int().min(0).optional().describe("One part of the message, from 0; without it all of it.");
const dryRun = z.boolean().optional().describe("Says what it would come to and writes nothing.");

const cut = z.strictObject({
  thread,
  seq: seq.nullable().describe("The record that can be undone; null for a dry run."),
  range: list(seq).describe("The first and the last message."),
  tokensBefore: z.int(),
  tokensAfter: z.int(),
  rereads: z.int().describe("Tokens that the next request reads without the prompt cache."),
  paysAfter: z.int().nullable().describe("Requests after which the cut has paid for itself."),
});

export const hide = operation({
  name: "hide",
  summary: "Hide a message or one part of it from the prompt; the log keeps it",
  method: "POST",
  path: "/api/threads/{id}/hide",
  input: z.strictObject({ thread, seq, part, dryRun }),
  output: cut,
  run: (home, { thread: id, seq: target, part: of = null, dryRun: dry }) =>
    chosen(home, id, { kind: "hide", seq: target, part: of }, dry),
});

export const show = operation({
  name: "show",
  summary: "Show a message again that was hidden or folded",
  method: "POST",
  path: "/api/threads/{id}/show",
  input: z.strictObject({ thread, seq, part }),
  output: z.strictObject({ thread, shown: seq, undone: list(seq) }),
  async run(home, { thread: id, seq: target, part: of = null }) {
    const shown = await held(home, id, (writer) => showMessage(writer, { seq: target, part: of }));
    if (shown.kind === "refused") throw new OperationError("refused", shown.problem);
    if (shown.kind !== "shown") throw unwritten(id, shown.kind);
    return { thread: id, shown: target, undone: shown.undone };
  },
});

export const foldRange = operation({
  name: "compact-range",
  summary: "Put one short turn in the place of a range of messages",
  method: "POST",
  path: "/api/threads/{id}/compact-range",
  input: z.strictObject({
    thread,
    from: seq.optional().describe("The first message; without it the first that is visible."),
    until: seq.optional().describe("The last message; without it the last before the current request."),
    report: z.string().min(1).max(12_000).optional().describe("What stands there; without it an extract."),
    dryRun,
  }),
  output: cut,
  async run(home, { thread: id, from, until, report, dryRun: dry }) {
    const head = await home.store.head(id);
    if (head === undefined) throw missingThread(id);
    const range = [from ?? head.hiddenThrough + 1, until ?? (await lastBeforeRequest(home, id, head.version))] as const;
    if (until === undefined && range[0] > range[1])
      throw new OperationError("refused", `from ${range[0]} on there is no message before the current request`);
    return chosen(home, id, { kind: "fold", range, report }, dry);
  },
});

const section = z.enum(["goals", "decisions", "files", "facts", "errors", "now", "next"]);

export const summary = operation({
  name: "summary",
  summary: "The items of the summary that stands for what is hidden",
  method: "GET",
  path: "/api/threads/{id}/summary",
  input: z.strictObject({ thread }),
  output: z.strictObject({
    thread,
    compaction: seq.nullable().describe("The record of the summary; null if nothing is hidden."),
    items: list(
      z.strictObject({
        id: z.string(),
        section: z.enum([...section.options, "prose"]),
        text: z.string(),
        status: z.enum(["open", "done", "obsolete"]),
      }),
    ),
  }),
  tool: {
    title: "Summary items",
    description: "The items of the summary that stands for the older part of a conversation, with their ids.",
  },
  async run(home, { thread: id }) {
    const stored = await summaryItems(home, id);
    if (stored === null) throw missingThread(id);
    return { thread: id, compaction: stored.compaction, items: stored.items.map((one) => ({ ...one })) };
  },
});

export const summaryEdit = operation({
  name: "edit-summary",
  summary: "Change, add or delete one item of the summary",
  method: "POST",
  path: "/api/threads/{id}/summary",
  input: z.strictObject({
    thread,
    act: z.enum(["edit", "add", "delete"]),
    item: z.string().min(1).max(20).optional().describe("The item's id, such as g1; not for `add`."),
    section: section.optional().describe("Where an added item stands; `facts` when absent."),
    text: z.string().min(1).max(2_000).optional().describe("The item's words; not for `delete`."),
    dryRun,
  }),
  output: cut.omit({ range: true }).extend({ item: z.string() }),
  tool: {
    name: "summary_edit",
    title: "Edit the summary",
    description: "Changes, adds or deletes one item of a conversation's summary. One record, which can be undone.",
  },
  async run(home, { thread: id, act, item, section: under = "facts", text, dryRun: dry }) {
    if (act !== "add" && item === undefined) throw new OperationError("refused", `${act} takes the id of an item`);
    if (act !== "delete" && text === undefined) throw new OperationError("refused", `${act} takes a text`);
    const [of, words] = [item ?? "", text ?? ""];
    const change =
      act === "add"
        ? ({ act, section: under, text: words } as const)
        : act === "edit"
          ? ({ act, item: of, text: words } as const)
          : ({ act, item: of } as const);
    const result = await held(home, id, (writer) => editSummary(writer, change, dry === true ? "dry-run" : "act"));
    if (result.kind === "refused") throw new OperationError("refused", result.problem);
    if (result.kind !== "edited") throw unwritten(id, result.kind);
    const { kind: _, ...figures } = result;
    return { thread: id, ...figures };
  },
});

/** Without an end: everything before the newest message that a person wrote. */
async function lastBeforeRequest(home: Home, id: string, version: number): Promise<number> {
  const query = { kinds: ["message"], order: "descending" } as const;
  for await (const { record } of home.store.records(id, query))
    if (record.kind === "message" && record.origin === "user") return record.seq - 1;
  return version;
}

type CutDocument = { readonly thread: string } & Omit<Extract<CutResult, { kind: "cut" }>, "kind">;

async function chosen(home: Home, id: string, request: CutRequest, dry: boolean | undefined): Promise<CutDocument> {
  const result = await held(home, id, (writer) => cutThread(writer, request, dry === true ? "dry-run" : "act"));
  if (result.kind === "refused") throw new OperationError("refused", result.problem);
  if (result.kind !== "cut") throw unwritten(id, result.kind);
  const { kind: _, ...figures } = result;
  return { thread: id, ...figures };
}

async function held<T>(home: Home, id: string, work: (writer: Writer) => Promise<T>): Promise<T> {
  return leasedValue(id, await withWriter(home, id, work));
}
