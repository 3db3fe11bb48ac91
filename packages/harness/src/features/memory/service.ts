/**
 * Memory as people control it: look, search, write, correct, forget, take back, carry elsewhere. Every act is one save with
 * its preimage in the audit. What a person writes is redacted like everything else and needs no other gate; what a program
 * states for them passes the gates on words.
 */

import {
  type Change,
  checkWords,
  clampConfidence,
  type Fact,
  liveFacts,
  MAX_FACT_CHARACTERS,
  type MemoryDocument,
  type NewChange,
  planMemoryErasure,
  planMemoryUndo,
  type RefusalReason,
  readDocument,
  redactSecrets,
  SECTION_PATHS,
  type SectionPath,
  sayingTheSameAs,
  saysTheSame,
  sectionText,
  type Undo,
  visible,
} from "@palimpsest/core/internal/memory";
import { atOnce } from "@palimpsest/core/internal/summary";
import { inTurns } from "../../long-work.ts";
import { type Repository, type ScopeName, searchFacts } from "./repository.ts";

export interface MemoryServiceOptions {
  readonly repository: Repository;
  readonly clock: () => Date;
  readonly ids: () => string;
}

interface NewFact extends FactChange {
  readonly content: string;
}

/** Absent fields keep their value. */
interface FactChange {
  readonly content?: string | undefined;
  readonly category?: string | undefined;
  readonly confidence?: number | undefined;
}

type Added =
  | { readonly kind: "added" | "known"; readonly fact: Fact }
  | { readonly kind: "refused"; readonly reason: "empty" | "too-long" };

/** `refused`: by a gate that a model's proposals pass too. */
type StatedFact =
  | Exclude<Added, { readonly kind: "refused" }>
  | { readonly kind: "refused"; readonly reason: RefusalReason };

type Edited =
  | { readonly kind: "edited"; readonly fact: Fact }
  | { readonly kind: "refused"; readonly reason: "unknown-fact" | "empty" | "too-long" };

export interface Forgotten {
  readonly kind: "forgotten";
  readonly facts: readonly Fact[];
  /** Turns that nothing will be learned from again. */
  readonly fenced: readonly string[];
}

export interface MemoryService {
  show(scope: ScopeName): Promise<MemoryDocument>;
  /** As a thread's `search` says it; 20 facts at most unless told. */
  search(
    scope: ScopeName,
    query: string,
    options?: { readonly limit?: number | undefined },
  ): Promise<
    | { readonly kind: "found"; readonly hits: readonly { readonly fact: Fact; readonly score: number }[] }
    | { readonly kind: "nothing"; readonly reason: "no-match" }
  >;
  add(scope: ScopeName, fact: NewFact): Promise<Added>;
  /** What a program says about the person: `source` names the program, and the fact carries it. */
  state(scope: ScopeName, fact: NewFact, source: string): Promise<StatedFact>;
  edit(scope: ScopeName, id: string, change: FactChange): Promise<Edited>;
  rewrite(scope: ScopeName, path: SectionPath, text: string): Promise<void>;
  /** `erase` also takes the words out of the audit, so that it can't be undone, of facts too that were forgotten before. */
  forget(
    scope: ScopeName,
    ids: readonly string[],
    how?: "keep-history" | "erase",
  ): Promise<Forgotten | { readonly kind: "unknown-fact"; readonly id: string }>;
  history(scope: ScopeName): Promise<readonly Change[]>;
  undo(
    scope: ScopeName,
    change?: string,
  ): Promise<{ readonly kind: "undone"; readonly undone: readonly string[] } | Exclude<Undo, { kind: "changes" }>>;
  /** The document as other tools read it, without the audit. */
  export(scope: ScopeName): Promise<MemoryDocument>;
  import(scope: ScopeName, value: unknown): Promise<Imported>;
}

type Imported =
  | {
      readonly kind: "imported";
      readonly facts: number;
      readonly known: number;
      readonly sections: number;
      readonly notes: readonly string[];
    }
  | { readonly kind: "unreadable"; readonly reason: string };

export function memoryService(options: MemoryServiceOptions): MemoryService {
  const { repository } = options;
  return {
    show: async (scope) => withoutAudit(await repository.read(scope)),
    export: async (scope) => withoutAudit(await repository.read(scope)),
    history: async (scope) => (await repository.read(scope)).changes ?? [],
    async search(scope, query, { limit = 20 } = {}) {
      const hits = await searchFacts(await repository.read(scope), query, limit);
      return hits.length > 0 ? { kind: "found", hits } : { kind: "nothing", reason: "no-match" };
    },
    add(scope, fact) {
      const content = storable(fact.content);
      return content.kind === "refused"
        ? Promise.resolve(content)
        : add(options, scope, { ...fact, content: content.text }, "manual");
    },
    state(scope, fact, source) {
      const words = checkWords(fact.content);
      return words.kind === "refused"
        ? Promise.resolve(words)
        : add(options, scope, { ...fact, content: words.value }, source);
    },
    edit: (scope, id, input) => edit(options, scope, id, input),
    async rewrite(scope, path, text) {
      const after = clean(text);
      const change = (document: MemoryDocument): NewChange => ({
        kind: "rewrite",
        on: "section",
        target: path,
        before: sectionText(document, path),
        after,
        sources: [],
      });
      await repository.change(scope, (document) => ({ changes: [change(document)] }), "manual");
    },
    forget: (scope, wanted, how = "keep-history") => forget(repository, scope, wanted, how),
    async undo(scope, change) {
      let plan = null as Undo | null;
      await repository.change(
        scope,
        (document) => {
          plan = planMemoryUndo(document, change);
          return plan.kind === "changes" ? { changes: plan.changes } : null;
        },
        "manual",
      );
      return plan?.kind === "changes" ? { kind: "undone", undone: plan.undone } : plan!;
    },
    import: (scope, value) => importInto(options, scope, value),
  };
}

async function add(
  { repository, clock, ids }: MemoryServiceOptions,
  scope: ScopeName,
  input: NewFact,
  source: string,
): Promise<Exclude<Added, { readonly kind: "refused" }>> {
  const fact = newFact(ids(), input, { at: clock().toISOString(), source });
  let twin: Fact | undefined;
  await repository.change(
    scope,
    (document) => {
      twin = liveFacts(document).find((one) => saysTheSame(one.content, fact.content));
      return twin ? null : { changes: [added(fact)] };
    },
    "manual",
  );
  return twin === undefined ? { kind: "added", fact } : { kind: "known", fact: twin };
}

async function edit(
  { repository, clock }: MemoryServiceOptions,
  scope: ScopeName,
  id: string,
  { content: words, category, confidence }: FactChange,
): Promise<Edited> {
  const content = words === undefined ? null : storable(words);
  if (content?.kind === "refused") return content;
  let edited: Fact | undefined;
  await repository.change(
    scope,
    (document) => {
      const before = document.facts.find((fact) => fact.id === id);
      if (before === undefined) return null;
      edited = {
        ...before,
        ...(content && { content: content.text }),
        ...(category !== undefined && { category }),
        ...(confidence !== undefined && { confidence: clampConfidence(confidence) }),
        confirmedAt: clock().toISOString(),
      };
      return { changes: [{ kind: "edit", on: "fact", target: id, before, after: edited, sources: [] }] };
    },
    "manual",
  );
  return edited === undefined ? { kind: "refused", reason: "unknown-fact" } : { kind: "edited", fact: edited };
}

function withoutAudit({ changes, ...document }: MemoryDocument): MemoryDocument {
  return document;
}

function clean(text: string): string {
  return redactSecrets(visible(text)).text;
}

function storable(content: string): { kind: "text"; text: string } | { kind: "refused"; reason: "empty" | "too-long" } {
  const text = clean(content).replace(/\s+/g, " ");
  if (!/[\p{L}\p{N}]/u.test(text)) return { kind: "refused", reason: "empty" };
  return text.length > MAX_FACT_CHARACTERS ? { kind: "refused", reason: "too-long" } : { kind: "text", text };
}

function newFact(id: string, input: NewFact, { at, source }: { readonly at: string; readonly source: string }): Fact {
  const { content, category = "context", confidence = 1 } = input;
  const fact = { id, content, category, confidence: clampConfidence(confidence) };
  return { ...fact, createdAt: at, source, validFrom: at };
}

function added(fact: Fact): NewChange {
  return { kind: "add", on: "fact", target: fact.id, before: null, after: fact, sources: fact.sourceMessageIds ?? [] };
}

/** With a fact go those it superseded: they are its history. */
async function forget(
  repository: Repository,
  scope: ScopeName,
  wanted: readonly string[],
  how: "keep-history" | "erase",
): Promise<Forgotten | { readonly kind: "unknown-fact"; readonly id: string }> {
  let facts: readonly Fact[] = [];
  let fenced: readonly string[] = [];
  let missing: string | undefined;
  await repository.change(
    scope,
    (document) => {
      const factIds = new Set(document.facts.map(({ id }) => id));
      if (how === "erase") for (const { target } of document.changes ?? []) factIds.add(target);
      missing = wanted.find((id) => !factIds.has(id));
      if (missing !== undefined) return null;
      facts = withAncestors(document, wanted);
      fenced = turnsOf(document, [...wanted, ...facts.map(({ id }) => id)]);
      if (how === "erase") {
        const ids = new Set([...wanted, ...facts.map(({ id }) => id)]);
        return planMemoryErasure(document, { refs: new Set(), ids, fences: fenced });
      }
      const changes = facts.map((fact): NewChange => {
        const fences = fact.sourceMessageIds ?? [];
        return {
          kind: "forget",
          on: "fact",
          target: fact.id,
          before: fact,
          after: null,
          sources: fences,
          fences,
        };
      });
      return { changes };
    },
    "manual",
  );
  if (missing !== undefined) return { kind: "unknown-fact", id: missing };
  return { kind: "forgotten", facts, fenced };
}

/** The turns that facts were drawn from, as far as the facts or the audit still say so. */
function turnsOf({ facts, changes = [] }: MemoryDocument, ids: readonly string[]): string[] {
  const named = facts.flatMap((fact) => (ids.includes(fact.id) ? (fact.sourceMessageIds ?? []) : []));
  const audited = changes.flatMap((change) =>
    change.kind === "forget" && ids.includes(change.target) ? change.sources : [],
  );
  return [...new Set([...named, ...audited])];
}

function withAncestors({ facts }: MemoryDocument, wanted: readonly string[]): Fact[] {
  const gone = new Set(wanted);
  for (let size = -1; size !== gone.size; ) {
    size = gone.size;
    for (const { id, supersededBy } of facts) if (supersededBy !== undefined && gone.has(supersededBy)) gone.add(id);
  }
  return facts.filter(({ id }) => gone.has(id));
}

const DOCUMENT_KEYS: ReadonlySet<string> = new Set(["facts", "userContext", "user", "history"]);

/** Adds what isn't known and fills empty sections; nothing that is here is lost. */
async function importInto(
  { repository, ids, clock }: MemoryServiceOptions,
  scope: ScopeName,
  value: unknown,
): Promise<Imported> {
  const read = readDocument(value);
  if (read.kind === "unreadable") return read;
  if (!Object.keys(Object(value)).some((name) => DOCUMENT_KEYS.has(name)))
    return { kind: "unreadable", reason: "it has neither facts nor sections" };
  let counts = { facts: 0, known: 0, sections: 0 };
  const given = read.document.facts;
  let total = given.length;
  if (total > MOST_IMPORTED) return tooMany(total);
  const long = given.findIndex(({ content }) => content.length > MAX_FACT_CHARACTERS);
  if (long >= 0) return tooLong(long + 1);
  const ahead = await repository.read(scope);
  const unknown = await inTurns(unknownFacts(given, ahead));
  await repository.change(
    scope,
    (document) => {
      const taken = new Set(document.facts.map(({ id }) => id));
      // Somebody may have changed it meanwhile.
      const fresh = document.revision === ahead.revision ? unknown : atOnce(unknownFacts(given, document));
      total = fresh.length === 0 ? 0 : document.facts.length + fresh.length;
      if (total > MOST_IMPORTED) return null;
      const facts = fresh.map((fact) => ({ ...fact, id: taken.has(fact.id) ? ids() : fact.id }));
      const sections = SECTION_PATHS.flatMap((path): NewChange[] => {
        const [before, after] = [sectionText(document, path), clean(sectionText(read.document, path))];
        return before === "" && after !== ""
          ? [{ kind: "rewrite", on: "section", target: path, before, after, sources: [] }]
          : [];
      });
      counts = { facts: facts.length, known: given.length - facts.length, sections: sections.length };
      const changes = [...facts.map(added), ...sections];
      return changes.length === 0
        ? null
        : { changes: changes.map((change) => ({ ...change, note: `imported ${clock().toISOString().slice(0, 10)}` })) };
    },
    "import",
  );
  return total > MOST_IMPORTED ? tooMany(total) : { kind: "imported", ...counts, notes: read.notes };
}

/** What the document doesn't say yet. Yields after each fact: reading 2,000 of them takes half a second. */
function* unknownFacts(given: readonly Fact[], document: MemoryDocument): Generator<void, readonly Fact[]> {
  const isKnown = yield* sayingTheSameAs(liveFacts(document).map(({ content }) => content));
  const unknown: Fact[] = [];
  for (const fact of given) {
    const content = clean(fact.content);
    if (!isKnown(content)) unknown.push({ ...fact, content });
    yield;
  }
  return unknown;
}

/** Each turn looks through all of them at once. */
const MOST_IMPORTED = 2000;

function tooMany(facts: number): Imported {
  const most = `an import makes a memory of at most ${MOST_IMPORTED}`;
  return { kind: "unreadable", reason: `it would bring this memory to ${facts} facts, and ${most}` };
}

function tooLong(place: number): Imported {
  return { kind: "unreadable", reason: `its fact ${place} has more than ${MAX_FACT_CHARACTERS} characters` };
}
