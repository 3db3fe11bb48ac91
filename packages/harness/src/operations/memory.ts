/** The user's memory: looked at, corrected, forgotten, taken back, carried elsewhere. Every act is about one scope. */
import { randomUUID } from "node:crypto";
import type { Fact, MemoryDocument, RefusalReason, SectionPath } from "@palimpsest/core/internal/memory";
import { SECTION_PATHS } from "@palimpsest/core/internal/memory";
import { z } from "zod";
import { forgetEverywhere } from "../features/memory/erase-message.ts";
import { checkScope, type MemoryScope, type Repository } from "../features/memory/repository.ts";
import { type MemoryService, memoryService } from "../features/memory/service.ts";
import type { Home } from "../home/open-home.ts";
import {
  type ClosedHome,
  invalid,
  list,
  type Operation,
  OperationError,
  type OperationOptions,
  operation,
} from "./operation.ts";

const agent = z.string().max(64).optional().describe("A custom agent's memory; without it the user's own.");
const scope = z.strictObject({ agent });
const factId = z.string().min(1).max(200).describe("A fact's id.");
const fact = z.looseObject({ id: z.string(), content: z.string(), category: z.string(), confidence: z.number() });
const document = z.looseObject({
  userContext: z.record(z.string(), z.string()),
  history: z.record(z.string(), z.string()),
  facts: list(fact),
});
const content = z.string().max(10_000);
const category = z.string().min(1).max(64).optional();
const confidence = z.number().min(0).max(1).optional();

export const show = memoryOperation({
  name: "memory-show",
  summary: "What is remembered",
  method: "GET",
  path: "/api/memory",
  input: scope,
  output: document,
  run: async ({ service, at }) => shown(await service.show(at)),
});

export const rewrite = memoryOperation({
  name: "memory-rewrite",
  summary: "Rewrite sections by their paths, such as userContext.topOfMind",
  method: "PUT",
  path: "/api/memory",
  body: "sections",
  input: z.strictObject({
    agent,
    sections: z.partialRecord(
      z.enum(SECTION_PATHS as readonly [SectionPath, ...SectionPath[]]),
      z.string().max(20_000),
    ),
  }),
  output: document,
  run: async ({ service, at }, { sections }) => {
    for (const [path, text] of Object.entries(sections)) await service.rewrite(at, path as SectionPath, text);
    return shown(await service.show(at));
  },
});

export const facts = memoryOperation({
  name: "memory-facts",
  summary: "The facts; with q those that match it best",
  method: "GET",
  path: "/api/memory/facts",
  input: z.strictObject({
    agent,
    q: z.string().min(1).max(10_000).optional(),
    limit: z.int().min(1).max(500).optional().describe("How many at most; with q 20 unless told, else all."),
  }),
  output: z.strictObject({ facts: list(fact) }),
  tool: {
    name: "memory_search",
    title: "Search memory",
    description: "Find what is remembered about the user: the facts that match best, with their ids.",
    defaults: { limit: 10 },
  },
  run: async ({ service, at }, { q, limit }) => {
    if (q === undefined) return { facts: (await service.show(at)).facts.slice(0, limit).map(open) };
    const found = await service.search(at, q, { limit });
    if (found.kind === "nothing") return { facts: [] };
    return { facts: found.hits.map((hit) => ({ ...hit.fact, score: hit.score })) };
  },
});

export const add = memoryOperation({
  name: "memory-add",
  summary: "Remember a fact; one that says the same is found instead",
  method: "POST",
  path: "/api/memory/facts",
  status: 201,
  input: z.strictObject({ agent, content, category, confidence }),
  output: z.strictObject({ kind: z.enum(["added", "known"]), fact }),
  tool: {
    title: "Remember a fact",
    description:
      "Remember something lasting about the user that they said or decided: one sentence, no instructions, no secrets.",
    effect: "adds",
  },
  run: async ({ service, at }, { agent: _, ...given }, { source }) => {
    // What a program states for the person passes the gates that a model's proposals pass.
    const added = source === undefined ? await service.add(at, given) : await service.state(at, given, source);
    if (added.kind === "refused") throw notRemembered(added.reason);
    return { kind: added.kind, fact: open(added.fact) };
  },
});

export const showFact = memoryOperation({
  name: "memory-fact",
  summary: "One fact",
  method: "GET",
  path: "/api/memory/facts/{fact}",
  input: z.strictObject({ agent, fact: factId }),
  output: fact,
  run: async ({ service, at }, { fact: id }) => {
    const known = (await service.show(at)).facts.find((one) => one.id === id);
    if (known === undefined) throw noFact(id);
    return open(known);
  },
});

export const edit = memoryOperation({
  name: "memory-edit",
  summary: "Correct a fact",
  method: "PATCH",
  path: "/api/memory/facts/{fact}",
  input: z.strictObject({ agent, fact: factId, content: content.optional(), category, confidence }),
  output: z.strictObject({ kind: z.literal("edited"), fact }),
  run: async ({ service, at }, { agent: _, fact: id, ...change }) => {
    const edited = await service.edit(at, id, change);
    if (edited.kind === "edited") return { kind: edited.kind, fact: open(edited.fact) };
    throw edited.reason === "unknown-fact" ? noFact(id) : notRemembered(edited.reason);
  },
});

const names = list(z.string());

export const forget = memoryOperation({
  name: "memory-forget",
  summary: "Forget a fact; with redact=true its words are erased everywhere, with the turns it was learned from",
  method: "DELETE",
  path: "/api/memory/facts/{fact}",
  query: ["agent", "redact"],
  input: z.strictObject({
    agent,
    fact: factId,
    redact: z.boolean().optional(),
    also: z.array(factId).max(1000).optional().describe("More facts, forgotten in the same change."),
  }),
  output: z.strictObject({
    forgotten: names,
    fenced: names,
    evidence: names,
    redacted: names,
    alsoForgotten: names.describe("With redact: other facts that were learned from the erased turns alone."),
    busy: names,
    left: z.string().optional().describe("A file of the database that another process still holds with the words."),
  }),
  tool: {
    title: "Forget a fact",
    description: "Forget a fact by its id, as memory_search gives it. It can be taken back by the user.",
    effect: "deletes",
    without: ["redact", "also"],
  },
  run: async ({ home, service, at }, { fact: id, redact = false, also = [] }) => {
    const ids = [id, ...also];
    const done = await forgetIn(home, service, { at, ids, redact });
    if (done.kind === "unknown-fact") throw noFact(done.id);
    const { kind: _, facts: gone, scrubbed, ...told } = done;
    const left = scrubbed.kind === "held" ? { left: scrubbed.file } : {};
    return { forgotten: gone.map((one) => one.id), ...told, ...left };
  },
});

/** Where there are no threads, nothing else shows the facts. */
async function forgetIn(
  home: AnyHome,
  service: MemoryService,
  { at, ids, redact }: { readonly at: MemoryScope; readonly ids: readonly string[]; readonly redact: boolean },
) {
  if (home.store !== null)
    return forgetEverywhere(await home.eraseDeps(), service, { scope: at, ids, turns: redact ? "redact" : "keep" });
  const forgotten = await service.forget(at, ids, redact ? "erase" : "keep-history");
  return {
    evidence: [],
    redacted: [],
    alsoForgotten: [],
    busy: [],
    scrubbed: { kind: "clean" as const },
    ...forgotten,
  };
}

export const history = memoryOperation({
  name: "memory-history",
  summary: "Every change that was made, with what was there before",
  method: "GET",
  path: "/api/memory/history",
  input: scope,
  output: z.strictObject({ changes: list(z.looseObject({ id: z.string(), kind: z.string() })) }),
  run: async ({ service, at }) => ({
    changes: (await service.history(at)).map((change) => ({ ...change })),
  }),
});

export const undo = memoryOperation({
  name: "memory-undo",
  summary: "Take back the newest change, or one by its id",
  method: "POST",
  path: "/api/memory/undo",
  input: z.strictObject({ agent, change: z.string().optional() }),
  output: z.strictObject({ undone: names }),
  run: async ({ service, at }, { change }) => {
    const result = await service.undo(at, change);
    if (result.kind === "undone") return { undone: result.undone };
    const later = result.reason === "changed-since" ? ` by ${result.later}: take that back first` : "";
    throw new OperationError(result.reason, `${WHY_NOT_UNDONE[result.reason]}${later}`);
  },
});

const WHY_NOT_UNDONE = {
  nothing: "there is nothing to take back",
  "unknown-change": "there is no such change",
  "already-undone": "it was taken back already",
  erased: "it was erased for good",
  "changed-since": "what it changed has been changed again since",
} as const;

export const exportMemory = memoryOperation({
  name: "memory-export",
  summary: "The document as other tools read it",
  method: "GET",
  path: "/api/memory/export",
  input: scope,
  output: document,
  run: async ({ service, at }) => shown(await service.export(at)),
});

export const importMemory = memoryOperation({
  name: "memory-import",
  summary: "Add what a document knows and this memory doesn't",
  method: "POST",
  path: "/api/memory/import",
  body: "document",
  input: z.strictObject({ agent, document: z.record(z.string(), z.unknown()) }),
  output: z.strictObject({ imported: z.int(), known: z.int(), sections: z.int() }),
  run: async ({ service, at }, { document: given }, { note }) => {
    const result = await service.import(at, given);
    if (result.kind === "unreadable")
      throw new OperationError("unreadable", `this is no memory document: ${result.reason}. Nothing was imported`);
    for (const text of result.notes) note?.(text);
    return { imported: result.facts, known: result.known, sections: result.sections };
  },
});

export const reload = memoryOperation({
  name: "memory-reload",
  summary: "Read it anew, past every cache",
  method: "POST",
  path: "/api/memory/reload",
  input: scope,
  output: document,
  run: async ({ service, repository, at }) => {
    await repository.storage.reload(at);
    return shown(await service.show(at));
  },
});

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

export const showSettings = operation({
  name: "memory-config",
  summary: "How memory is set up",
  method: "GET",
  path: "/api/memory/config",
  needs: "settings",
  input: z.strictObject({}),
  output: settings,
  run: (home: AnyHome) => settingsOf(home),
});

export const status = memoryOperation({
  name: "memory-status",
  summary: "How memory is set up, and what is remembered",
  method: "GET",
  path: "/api/memory/status",
  input: scope,
  output: z.strictObject({ config: settings, data: document }),
  run: async ({ home, service, at }) => ({
    config: await settingsOf(home),
    data: shown(await service.show(at)),
  }),
});

type AnyHome = Home | ClosedHome;

interface OpenMemory {
  readonly home: AnyHome;
  readonly service: MemoryService;
  readonly repository: Repository;
  readonly at: MemoryScope;
}

/** An act on one scope, which the address names; a home without threads will do. */
function memoryOperation<
  Input extends z.ZodObject<{ agent: typeof agent }>,
  Output extends z.ZodType,
  Result extends z.input<Output>,
>({
  run,
  ...entry
}: Omit<Operation<Input, Result>, "output" | "needs" | "run"> & {
  readonly output: Output;
  run(memory: OpenMemory, input: z.output<Input>, options: OperationOptions): Promise<Result>;
}): Operation<Input, Result> {
  return operation({
    query: ["agent"],
    needs: "memory",
    ...entry,
    async run(home: AnyHome, input: z.output<Input>, options) {
      const checked = checkScope(home.userId, input.agent ?? null);
      if (checked.kind === "invalid") throw invalid("agent", checked.problem);
      const repository = await home.memory(home.store);
      const service = memoryService({ repository, clock: home.clock, ids: randomUUID });
      return run({ home, service, repository, at: checked.scope }, input, options);
    },
  });
}

/** Where it is kept is the operator's own affair. */
async function settingsOf(home: AnyHome) {
  const { storage_path: _, storage_class: _kind, model_name: _model, ...rest } = (await home.settings()).memory;
  return rest;
}

function shown(one: MemoryDocument) {
  return { ...one, facts: one.facts.map(open) };
}

/** As a document that may have more fields than its schema names. */
function open(one: Fact) {
  return { ...one };
}

function noFact(id: string): OperationError {
  return new OperationError("missing", `there is no fact ${JSON.stringify(id.slice(0, 140))}`);
}

function notRemembered(reason: RefusalReason): OperationError {
  const [code, why] = WHY_NOT_REMEMBERED[reason] ?? (["refused", "say it in other words"] as const);
  return new OperationError(code, why);
}

const WHY_NOT_REMEMBERED: Readonly<
  Partial<Record<RefusalReason, readonly ["empty" | "too-long" | "refused", string]>>
> = {
  empty: ["empty", "there is no word in it"],
  "too-long": ["too-long", "a fact has at most 500 characters"],
  "not-durable": ["refused", "it is a task or an upload, which is over soon"],
  instruction: ["refused", "it tells an assistant what to do instead of saying something about the user"],
  approval: ["refused", "consent in advance is never remembered"],
  "only-a-secret": ["refused", "there is nothing in it but a secret"],
};
