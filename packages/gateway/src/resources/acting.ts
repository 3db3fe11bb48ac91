/** Acts on a thread, each one a record that can be looked at later, and most of them taken back. */
import type { OnCompactionEvent } from "palimpsest/compaction";
import { compactInHome, forkInHome, takeBackInHome } from "palimpsest/internal/assistant";
import {
  compactDocument,
  forkDocument,
  pinDocument,
  redactDocument,
  undoneDocument,
  verifyDocument,
} from "palimpsest/internal/documents";
import type { Home } from "palimpsest/internal/home";
import { eraseMessage } from "palimpsest/internal/memory";
import { withWriter } from "palimpsest/internal/threads";
import { pin, redo, undo, verify } from "palimpsest/threads";
import { z } from "zod";
import { ProblemError } from "../http/problem.ts";
import { type Route, route } from "../http/route.ts";
import { list, noBody, seq, thread } from "../http/schemas.ts";
import { busy, missing, newThreadId, ownThread } from "./own-thread.ts";

const undone = z.strictObject({ thread, undone: seq.optional(), redone: seq.optional(), seq });
const names = list(z.string());

export const actingRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/threads/{id}/compact",
    summary: "Hide the older part of a thread behind a summary; a dry run writes nothing",
    access: "user",
    body: z.strictObject({
      dryRun: z.boolean().optional(),
      focus: z.string().min(1).max(10_000).optional().describe("What the summary should keep in view."),
      window: z.int().min(1).optional().describe("The model's window in tokens."),
    }),
    answer: z.looseObject({ thread, kind: z.enum(["compacted", "unchanged"]), dryRun: z.literal(true).optional() }),
    async handle(call) {
      const id = await ownThread(call);
      const { dryRun = false, focus, window } = call.body;
      const { meter, signal } = call;
      const on: OnCompactionEvent = (event) => dryRun || meter.event(event);
      const outcome = await compactInHome(call.home, id, { dryRun, focus, window, signal, on });
      if (outcome.kind === "missing") throw missing(id);
      if (outcome.kind === "unchanged" && outcome.reason === "busy") throw busy(id);
      if (outcome.kind === "unchanged" && outcome.reason === "no-history")
        throw new ProblemError(422, "no-history", outcome.detail);
      const { dryRun: _, ...document } = { ...compactDocument(id, outcome, { dryRun }), dryRun };
      return { ...document, ...(dryRun && { dryRun: true as const }) };
    },
  }),
  route({
    method: "POST",
    path: "/api/threads/{id}/undo",
    summary: "Take back the newest compaction or prune, or the one at a record",
    access: "user",
    body: z.strictObject({ seq: seq.optional() }),
    answer: undone,
    handle: async (call) => takenBack(call.home, await ownThread(call), (writer) => undo(writer, call.body.seq)),
  }),
  route({
    method: "POST",
    path: "/api/threads/{id}/redo",
    summary: "Take back the newest undo",
    access: "user",
    body: noBody,
    answer: undone,
    handle: async (call) => takenBack(call.home, await ownThread(call), redo),
  }),
  route({
    method: "POST",
    path: "/api/threads/{id}/fork",
    summary: "Make a thread that shares this one's records up to a seq",
    access: "user",
    status: 201,
    body: z.strictObject({
      at: z.int().min(0).optional().describe("The last record to share; without it all of them."),
      as: z.string().optional().describe("The new thread's id."),
    }),
    answer: z.strictObject({ thread, parent: thread, at: z.int() }),
    async handle(call) {
      const id = await ownThread(call);
      const as = call.body.as === undefined ? undefined : newThreadId(call.body.as);
      const at = call.body.at ?? (await call.home.store.head(id))?.version ?? 0;
      const forked = await forkInHome(call.home, id, { as, at });
      switch (forked.kind) {
        case "forked":
          return forkDocument(id, forked);
        case "exists":
          throw new ProblemError(409, "exists", `there is a thread ${JSON.stringify(forked.threadId)} already`);
        case "beyond-end":
          throw new ProblemError(422, "beyond-end", `there is no record ${at}: choose an earlier one`);
        case "workspace-full":
          throw new ProblemError(507, "workspace-full", forked.message);
        case "missing":
          throw missing(id);
      }
    },
  }),
  route({
    method: "POST",
    path: "/api/threads/{id}/pin",
    summary: "Pin a message, so that every summary quotes it word for word",
    access: "user",
    body: z.strictObject({ seq, on: z.boolean().optional().describe("False takes the pin off.") }),
    answer: z.strictObject({ thread, pinned: seq, on: z.boolean() }),
    async handle(call) {
      const id = await ownThread(call);
      const { seq: target, on = true } = call.body;
      const held = await withWriter(call.home, id, (writer) => pin(writer, target, on ? "on" : "off"));
      if (held.kind === "missing") throw missing(id);
      if (held.kind === "busy") throw busy(id, held.expiresAt);
      if (held.value.kind === "no-message") throw noMessage(target);
      if (held.value.kind !== "committed") throw busy(id);
      return pinDocument(id, target, on);
    },
  }),
  route({
    method: "POST",
    path: "/api/threads/{id}/redact",
    summary: "Erase a message's text for good, with what was made of it",
    access: "user",
    body: z.strictObject({ seq }),
    answer: z.strictObject({
      thread,
      redacted: seq,
      bodies: z.unknown(),
      threads: names,
      lentTo: names,
      facts: names,
      shownIn: names,
      copies: names,
      busy: names,
      left: z.string().nullable().describe("A file of the database that another process still holds with the words."),
    }),
    async handle(call) {
      const id = await ownThread(call);
      const result = await eraseMessage(await call.home.eraseDeps(), id, call.body.seq);
      switch (result.kind) {
        case "redacted":
        case "already-redacted":
          return redactDocument(id, result);
        case "no-message":
          throw noMessage(call.body.seq);
        case "missing":
          throw missing(id);
        case "busy":
          throw busy(result.threadId, result.expiresAt);
        case "lease-lost":
        case "conflict":
          throw busy(id);
      }
    },
  }),
  route({
    method: "POST",
    path: "/api/threads/{id}/verify",
    summary: "Check the thread's hash chain, record by record",
    access: "user",
    body: noBody,
    answer: z.strictObject({
      ok: z.boolean(),
      records: z.int(),
      redacted: list(z.int()),
      firstBad: z.unknown().optional(),
    }),
    async handle(call) {
      const id = await ownThread(call);
      const verdict = await verify(call.home, id);
      if (verdict.kind === "missing") throw missing(id);
      return verifyDocument(verdict);
    },
  }),
];

/** The part files are made again by whoever needs them next, or by `doctor --rebuild`. */
async function takenBack(home: Home, id: string, act: typeof redo) {
  const held = await takeBackInHome(home, id, act, () => {});
  if (held.kind === "missing") throw missing(id);
  if (held.kind === "busy") throw busy(id, held.expiresAt);
  const { value } = held;
  switch (value.kind) {
    case "undone":
    case "redone":
      return undoneDocument(id, value);
    case "refused":
      throw new ProblemError(409, value.reason, WHY_NOT[value.reason]);
    case "missing":
      throw missing(id);
    case "lease-lost":
    case "conflict":
      throw busy(id);
  }
}

const WHY_NOT = {
  "nothing-to-undo": "no compaction and no prune of the thread stands",
  "nothing-to-redo": "no undo of the thread stands",
  "not-undoable": "only compactions, prunes and undos can be taken back",
  "already-undone": "that record is taken back already",
  "folded-by": "that record is folded into a later compaction: take that back first",
} as const;

function noMessage(at: number): ProblemError {
  return new ProblemError(422, "no-message", `record ${at} is not a message`);
}
