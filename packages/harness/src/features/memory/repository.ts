/**
 * Reads and changes documents, whatever keeps them. A change is a pure function of the document: when somebody else saved
 * in between, it is asked again about the newer one, and no model or person is waited for meanwhile [F52]. An agent
 * without a document reads its user's, and its first save makes a copy. What a person corrects in the user's memory holds for
 * prompts of such an agent, too.
 */

import { isAbsolute, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { checkUser, DEFAULT_USER, type Head } from "@palimpsest/core/internal/log";
import type { Fact, MemoryDocument, NewChange, Stamp } from "@palimpsest/core/internal/memory";
import { applyChanges, emptyDocument, liveFacts, renderMemory } from "@palimpsest/core/internal/memory";
import { type IndexEntry, indexEntry, MemoryIndex, search } from "@palimpsest/core/internal/recall";
import { userFolder } from "../../home-folders.ts";
import { type MemoryStorage, MemoryStorageError } from "./storage.ts";

/** What to do with a document; null: nothing after all. */
interface Edit {
  readonly changes: readonly NewChange[];
  /** What else the save carries, such as a watermark. */
  readonly also?: (document: MemoryDocument) => MemoryDocument;
}

interface Changed {
  readonly document: MemoryDocument;
  readonly saved: boolean;
}

export interface Repository {
  readonly storage: MemoryStorage;
  read(scope: ScopeName): Promise<MemoryDocument>;
  /** What a prompt is made from: as `read`, with the corrections of the document that it was copied from. Never saved. */
  view(scope: ScopeName): Promise<MemoryDocument>;
  change(scope: ScopeName, edit: (document: MemoryDocument) => Edit | null, by: Stamp["by"]): Promise<Changed>;
}

export function openRepository(storage: MemoryStorage, clock: () => Date): Repository {
  const read = async (scope: MemoryScope, how: "load" | "reload"): Promise<MemoryDocument> => {
    const own = await storage[how](scope);
    if (own !== null) return own;
    const global = scope.agentName === null ? null : await storage[how]({ ...scope, agentName: null });
    return global === null ? emptyDocument() : copyOf(global);
  };
  return {
    storage,
    read: async (scope) => read(checked(scope), "load"),
    async view(target) {
      const scope = checked(target);
      const own = await storage.load(scope);
      const isCopy = own === null || own.copiedFrom !== undefined;
      const global = scope.agentName === null || !isCopy ? null : await storage.load({ ...scope, agentName: null });
      if (own === null) return global ?? emptyDocument();
      return global === null ? own : withCorrections(own, global);
    },
    async change(target, edit, by) {
      const scope = checked(target);
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const document = await read(scope, attempt === 0 ? "load" : "reload");
        const made = edit(document);
        if (made === null) return { document, saved: false };
        const changed = applyChanges(document, made.changes, { at: clock().toISOString(), by });
        const next = made.also?.(changed) ?? changed;
        const expectRevision = document.revision ?? 0;
        const result = await storage.save(next, { scope, expectRevision });
        if (result.kind === "saved") return { document: next, saved: true };
        await wait(Math.random() * Math.min(200, 2 ** attempt));
      }
      throw new MemoryStorageError(
        "locked",
        `${storage.place(scope)} was changed by others ${ATTEMPTS} times in a row: try again.`,
      );
    },
  };
}

/** A scope is always spelled the same way. */
function checked({ userId, agentName }: ScopeName): MemoryScope {
  const check = checkScope(userId, agentName);
  if (check.kind === "invalid") throw new TypeError(check.problem);
  return check.scope;
}

const ATTEMPTS = 100;

/** Facts and fences come along; the audit and the watermarks are the other document's own. The same copy each time. */
function copyOf(document: MemoryDocument): MemoryDocument {
  const { changes, watermarks, marks, revision, ...rest } = document;
  const copy = copies.get(document) ?? { ...rest, copiedFrom: "global" };
  copies.set(document, copy);
  return copy;
}

/** The audit of both, in order of time. The same view each time, as facts are indexed once for each document. */
function withCorrections(own: MemoryDocument, global: MemoryDocument): MemoryDocument {
  const known = views.get(own);
  if (known?.global === global) return known.view;
  const changes = [...(global.changes ?? []), ...(own.changes ?? [])].sort((a, b) => (a.at < b.at ? -1 : 1));
  const view = { ...own, changes };
  views.set(own, { global, view });
  return view;
}

const views = new WeakMap<MemoryDocument, { readonly global: MemoryDocument; readonly view: MemoryDocument }>();
const copies = new WeakMap<MemoryDocument, MemoryDocument>();

/*
 * Whose memory it is: a user and, for a custom agent, that agent. Every access names its scope: there is no way to touch
 * more than one [F38] [F59].
 */

export interface MemoryScope {
  readonly userId: string;
  /** Null: the user's own memory, which every agent without one of its own reads. */
  readonly agentName: string | null;
}

/** A scope as people name it: without an agent it is the user's own memory. */
export interface ScopeName {
  readonly userId: string;
  readonly agentName?: string | null;
}

const DEFAULT_AGENT = "default";

export type ScopeCheck =
  | { readonly kind: "scope"; readonly scope: MemoryScope }
  | { readonly kind: "invalid"; readonly problem: string };

/** Any user, as it is; an agent is a name of ours, in lower case. The default agent has no memory of its own. */
export function checkScope(userId: string, agentName?: string | null): ScopeCheck {
  const checked = checkUser(userId);
  if (checked.kind === "invalid") return checked;
  const name = agentName ?? DEFAULT_AGENT;
  const problem = nameProblem(name);
  if (problem !== null) return { kind: "invalid", problem: `the agent name ${JSON.stringify(name)} ${problem}` };
  const named = name.toLowerCase();
  return { kind: "scope", scope: { userId, agentName: named === DEFAULT_AGENT ? null : named } };
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

function nameProblem(name: string): string | null {
  if (name === "") return "is empty: give it a letter or digit at least";
  if (name.length > 64) return `has ${name.length} characters, at most 64 are allowed`;
  if (!NAME.test(name)) return "may hold letters, digits, - and _ only, and begins with a letter or digit";
  return DEVICE.test(name) ? "is the name of a device on some systems: choose another" : null;
}

export interface MemoryPlace {
  readonly base: string;
  /** The default user's own file: absolute as is, relative under the base. */
  readonly storagePath: string;
}

export function memoryPath({ userId, agentName }: MemoryScope, { base, storagePath }: MemoryPlace): string {
  const root = userFolder(base, userId);
  if (agentName !== null) return join(root, "agents", agentName, "memory.json");
  if (userId !== DEFAULT_USER) return join(root, "memory.json");
  return isAbsolute(storagePath) ? storagePath : join(base, storagePath);
}

/*
 * Facts as a searchable list, built once per document: BM25 over their words. Ended and forgotten facts aren't in it,
 * because it is made from the document and from nothing else.
 */

export interface FactHit {
  readonly fact: Fact;
  readonly score: number;
}

export async function searchFacts(document: MemoryDocument, query: string, limit: number): Promise<FactHit[]> {
  const { index, facts } = indexOf(document);
  const options = { limit: Math.max(1, limit), matches: MATCHES };
  const result = await search(index, { kind: "thread", threadId: FACTS }, query, options);
  if (result.kind === "nothing") return [];
  return result.hits.map(({ doc, score }) => ({ fact: facts[doc.seq - 1]!, score })).filter(({ score }) => score > 0);
}

/** How much facts have to do with a question, by their ids; those without a word of it are missing. */
export async function relevanceTo(document: MemoryDocument, question: string): Promise<ReadonlyMap<string, number>> {
  if (question.trim() === "") return new Map();
  const hits = await searchFacts(document, question, RELEVANT);
  return new Map(hits.map(({ fact, score }) => [fact.id, score]));
}

const RELEVANT = 60;
const FACTS = "facts";
/** Facts are in memory: looking at more of them costs little. */
const MATCHES = 250;
const built = new WeakMap<MemoryDocument, { readonly index: MemoryIndex; readonly facts: readonly Fact[] }>();

function indexOf(document: MemoryDocument) {
  const cached = built.get(document);
  if (cached !== undefined) return cached;
  const facts = liveFacts(document);
  const index = new MemoryIndex();
  for (const [at, fact] of facts.entries()) {
    // Neighbours in the list have nothing to do with each other: a session each keeps them apart.
    index.put({ threadId: FACTS, seq: at + 1 }, { ...entryOf(fact), at: apart(at) });
  }
  const entry = { index, facts };
  built.set(document, entry);
  return entry;
}

/** A fact that stays as it is from one document to the next is read once. */
function entryOf(fact: Fact): IndexEntry {
  const entry = entries.get(fact) ?? indexEntry({ text: fact.content, speaker: "user", at: fact.createdAt });
  entries.set(fact, entry);
  return entry;
}

const entries = new WeakMap<Fact, IndexEntry>();

function apart(at: number): string {
  return new Date(at * 86_400_000).toISOString();
}

/*
 * The stable lane of a thread: the `<memory>` text, rendered at its first turn and then only when the prompt's cache is
 * lost anyway or a person wants it changed: at a compaction, after an edit or forget, after an hour idle. In between it
 * is the same, byte for byte, whatever was learned [F64]. Pure.
 */

/** As it stands in the thread's state. */
export interface FrozenMemory {
  readonly text: string;
  readonly factIds: readonly string[];
  readonly tokens: number;
  /** The compaction it was rendered at, and the newest change by a person it knows. */
  readonly compaction: number | null;
  readonly manual: string | null;
}

export interface StableOptions {
  readonly now: Date;
  /** `keep` where a changed prompt costs the model its thoughts: an hour idle is no reason to render it anew. */
  readonly whenIdle: "render" | "keep";
  readonly tokens: number;
  readonly count: (text: string) => number;
  /** By the ids of facts, to what is asked when the block is rendered. */
  readonly relevance?: ReadonlyMap<string, number> | undefined;
}

export type StableLane =
  | { readonly kind: "kept"; readonly frozen: FrozenMemory }
  | { readonly kind: "rendered"; readonly frozen: FrozenMemory };

export function stableLane(
  head: Head,
  document: MemoryDocument,
  { now, whenIdle, ...options }: StableOptions,
): StableLane {
  // A thread that began with an empty memory has no record of that; its block is nothing, and stays so.
  const before = frozenIn(head) ?? (head.messages > 0 ? NOTHING : null);
  const manual = newestByHand(document);
  const idle = whenIdle === "render" && now.getTime() - Date.parse(head.updatedAt) > IDLE_MS;
  const fresh = before === null || idle || before.compaction !== head.compaction || before.manual !== manual;
  if (!fresh) return { kind: "kept", frozen: before };
  const { text, factIds, tokens } = renderMemory(document, options);
  const frozen = { text, factIds, tokens, compaction: head.compaction, manual };
  const same = JSON.stringify(before ?? NOTHING) === JSON.stringify(frozen);
  return { kind: same ? "kept" : "rendered", frozen };
}

/** The newest change that a person made. */
export function newestByHand({ changes }: MemoryDocument): string | null {
  return changes?.findLast(({ by }) => by !== "conversation")?.id ?? null;
}

export function frozenIn(head: Head): FrozenMemory | null {
  const value = head.state["memory"];
  return typeof value === "object" && value !== null && "text" in value ? (value as FrozenMemory) : null;
}

/** Default tokens of the block: small windows leave more room for evidence about the question. */
export function blockBudget(window: number): number {
  return Math.min(MOST, Math.max(LEAST, Math.floor(window / 64)));
}

const [LEAST, MOST] = [125, 2_000];

/** What a configuration says, where it says something else than the default: that holds in every window. */
export function givenBlockTokens(setting: number): number | undefined {
  return setting === MOST ? undefined : setting;
}

const NOTHING: FrozenMemory = { text: "", factIds: [], tokens: 0, compaction: null, manual: null };
const IDLE_MS = 60 * 60 * 1000;
