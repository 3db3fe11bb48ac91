/** The caller's memory: looked at, corrected, forgotten, taken back, carried elsewhere. Every route is about one scope. */
import { randomUUID } from "node:crypto";
import { type Fact, type MemoryDocument, SECTION_PATHS, type SectionPath } from "@palimpsest/core/memory";
import type { Home } from "palimpsest/internal/home";
import { checkScope, forgetEverywhere, memoryService } from "palimpsest/internal/memory";
import type { MemoryScope, MemoryService, Repository } from "palimpsest/memory";
import { z } from "zod";
import { notFound, ProblemError } from "../http/problem.ts";
import { type Route, route } from "../http/route.ts";
import { flag, list, noBody, whole } from "../http/schemas.ts";

const scoped = { agent: z.string().max(64).optional().describe("A custom agent's memory; without it the user's own.") };
const scope = z.strictObject(scoped);
const fact = z.looseObject({ id: z.string(), content: z.string(), category: z.string(), confidence: z.number() });
const document = z.looseObject({
  userContext: z.record(z.string(), z.string()),
  history: z.record(z.string(), z.string()),
  facts: list(fact),
});
const newFact = {
  content: z.string().max(10_000),
  category: z.string().min(1).max(64).optional(),
  confidence: z.number().min(0).max(1).optional(),
};
const settings = z.strictObject({
  enabled: z.boolean(),
  injection_enabled: z.boolean(),
  debounce_seconds: z.number(),
  max_facts: z.int(),
  fact_confidence_threshold: z.number(),
  max_injection_tokens: z.int(),
  evidence_tokens: z.int(),
  tool: z.boolean(),
});

export const memoryRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/memory",
    summary: "What is remembered",
    access: "user",
    query: scope,
    answer: document,
    handle: (call) => inMemory(call, async ({ service, scope: at }) => shown(await service.show(at))),
  }),
  route({
    method: "PUT",
    path: "/api/memory",
    summary: "Rewrite sections by their paths, such as userContext.topOfMind",
    access: "user",
    query: scope,
    body: z.partialRecord(z.enum(SECTION_PATHS as readonly [SectionPath, ...SectionPath[]]), z.string().max(20_000)),
    answer: document,
    handle: (call) =>
      inMemory(call, async ({ service, scope: at }) => {
        for (const [path, text] of Object.entries(call.body)) await service.rewrite(at, path as SectionPath, text);
        return shown(await service.show(at));
      }),
  }),
  route({
    method: "GET",
    path: "/api/memory/facts",
    summary: "The facts; with q those that match it best",
    access: "user",
    query: z.strictObject({ ...scoped, q: z.string().min(1).max(10_000).optional(), limit: whole(1, 500).optional() }),
    answer: z.strictObject({ facts: list(fact) }),
    handle: (call) =>
      inMemory(call, async ({ service, scope: at }) => {
        const { q, limit } = call.query;
        if (q === undefined) return { facts: (await service.show(at)).facts.slice(0, limit).map(open) };
        const hits = await service.search(at, q, limit);
        return { facts: hits.map(({ fact: one, score }) => ({ ...one, score })) };
      }),
  }),
  route({
    method: "POST",
    path: "/api/memory/facts",
    summary: "Remember a fact; one that says the same is found instead",
    access: "user",
    status: 201,
    query: scope,
    body: z.strictObject(newFact),
    answer: z.strictObject({ kind: z.enum(["added", "known"]), fact }),
    handle: (call) =>
      inMemory(call, async ({ service, scope: at }) => {
        const added = await service.add(at, call.body);
        if (added.kind === "refused") throw refused(added.reason);
        return { kind: added.kind, fact: open(added.fact) };
      }),
  }),
  route({
    method: "GET",
    path: "/api/memory/facts/{fact}",
    summary: "One fact",
    access: "user",
    query: scope,
    answer: fact,
    handle: (call) =>
      inMemory(call, async ({ service, scope: at }) => {
        const found = (await service.show(at)).facts.find(({ id }) => id === call.params["fact"]);
        if (found === undefined) throw noFact(call.params["fact"]!);
        return open(found);
      }),
  }),
  route({
    method: "PATCH",
    path: "/api/memory/facts/{fact}",
    summary: "Correct a fact",
    access: "user",
    query: scope,
    body: z.strictObject({ ...newFact, content: newFact.content.optional() }),
    answer: z.strictObject({ kind: z.literal("edited"), fact }),
    handle: (call) =>
      inMemory(call, async ({ service, scope: at }) => {
        const edited = await service.edit(at, call.params["fact"]!, call.body);
        if (edited.kind === "edited") return { kind: edited.kind, fact: open(edited.fact) };
        if (edited.reason === "unknown-fact") throw noFact(call.params["fact"]!);
        throw refused(edited.reason);
      }),
  }),
  route({
    method: "DELETE",
    path: "/api/memory/facts/{fact}",
    summary: "Forget a fact; with redact=true its words are erased everywhere, with the turns it was learned from",
    access: "user",
    query: z.strictObject({ ...scoped, redact: flag.optional() }),
    body: noBody,
    answer: z.strictObject({
      forgotten: list(z.string()),
      fenced: list(z.string()),
      evidence: list(z.string()),
      redacted: list(z.string()),
      busy: list(z.string()),
    }),
    handle: (call) =>
      inMemory(call, async ({ service, scope: at }) => {
        const id = call.params["fact"]!;
        const turns = call.query.redact === true ? "redact" : "keep";
        const done = await forgetEverywhere(await call.home.eraseDeps(), service, { scope: at, ids: [id], turns });
        if (done.kind === "unknown-fact") throw noFact(id);
        const { facts, fenced, evidence, redacted, busy } = done;
        return { forgotten: facts.map((one) => one.id), fenced, evidence, redacted, busy };
      }),
  }),
  route({
    method: "GET",
    path: "/api/memory/history",
    summary: "Every change that was made, with what was there before",
    access: "user",
    query: scope,
    answer: z.strictObject({ changes: list(z.looseObject({ id: z.string(), kind: z.string() })) }),
    handle: (call) =>
      inMemory(call, async ({ service, scope: at }) => ({
        changes: (await service.history(at)).map((change) => ({ ...change })),
      })),
  }),
  route({
    method: "POST",
    path: "/api/memory/undo",
    summary: "Take back the newest change, or one by its id",
    access: "user",
    query: scope,
    body: z.strictObject({ change: z.string().optional() }),
    answer: z.strictObject({ undone: list(z.string()) }),
    handle: (call) =>
      inMemory(call, async ({ service, scope: at }) => {
        const result = await service.undo(at, call.body.change);
        if (result.kind === "undone") return { undone: result.undone };
        throw new ProblemError(409, result.reason, WHY_NOT[result.reason]);
      }),
  }),
  route({
    method: "GET",
    path: "/api/memory/export",
    summary: "The document as other tools read it",
    access: "user",
    query: scope,
    answer: document,
    handle: (call) => inMemory(call, async ({ service, scope: at }) => shown(await service.export(at))),
  }),
  route({
    method: "POST",
    path: "/api/memory/import",
    summary: "Add what a document knows and this memory doesn't",
    access: "user",
    query: scope,
    body: z.record(z.string(), z.unknown()),
    answer: z.strictObject({ imported: z.int(), known: z.int(), sections: z.int() }),
    handle: (call) =>
      inMemory(call, async ({ service, scope: at }) => {
        const result = await service.import(at, call.body);
        if (result.kind === "unreadable")
          throw new ProblemError(422, "unreadable", `this is no memory document: ${result.reason}`);
        return { imported: result.facts, known: result.known, sections: result.sections };
      }),
  }),
  route({
    method: "POST",
    path: "/api/memory/reload",
    summary: "Read it anew, past every cache",
    access: "user",
    query: scope,
    body: noBody,
    answer: document,
    handle: (call) =>
      inMemory(call, async ({ service, repository, scope: at }) => {
        await repository.storage.reload(at);
        return shown(await service.show(at));
      }),
  }),
  route({
    method: "GET",
    path: "/api/memory/config",
    summary: "How memory is set up",
    access: "user",
    answer: settings,
    handle: ({ home }) => settingsOf(home),
  }),
  route({
    method: "GET",
    path: "/api/memory/status",
    summary: "How memory is set up, and what is remembered",
    access: "user",
    query: scope,
    answer: z.strictObject({ config: settings, data: document }),
    handle: (call) =>
      inMemory(call, async ({ service, scope: at }) => ({
        config: await settingsOf(call.home),
        data: shown(await service.show(at)),
      })),
  }),
];

interface OpenMemory {
  readonly service: MemoryService;
  readonly repository: Repository;
  readonly scope: MemoryScope;
}

interface About {
  readonly home: Home;
  readonly query: { readonly agent?: string | undefined };
}

async function inMemory<T>({ home, query }: About, work: (memory: OpenMemory) => Promise<T>): Promise<T> {
  const checked = checkScope(home.userId, query.agent ?? null);
  if (checked.kind === "invalid") throw new ProblemError(400, "invalid", `query.agent: ${checked.problem}`);
  const repository = await home.memory(home.store);
  const service = memoryService({ repository, clock: home.clock, ids: randomUUID });
  return work({ service, repository, scope: checked.scope });
}

/** Where it is kept is the operator's own affair. */
async function settingsOf(home: Home) {
  const {
    storage_path: _,
    storage_class: _kind,
    model_name: _model,
    ...shownSettings
  } = (await home.settings()).memory;
  return shownSettings;
}

function shown(one: MemoryDocument) {
  return { ...one, facts: one.facts.map(open) };
}

/** As a document that may have more fields than its schema names. */
function open(one: Fact) {
  return { ...one };
}

function noFact(id: string): ProblemError {
  return notFound(`fact ${JSON.stringify(id.slice(0, 140))}`);
}

function refused(reason: "empty" | "too-long"): ProblemError {
  const why = { empty: "there is no word in it", "too-long": "a fact has at most 500 characters" }[reason];
  return new ProblemError(422, reason, why);
}

const WHY_NOT = {
  nothing: "there is nothing to take back",
  "unknown-change": "there is no such change",
  "already-undone": "it was taken back already",
  erased: "it was erased for good",
  "changed-since": "what it changed has been changed again since",
} as const;
