/**
 * From a model's update to the changes it makes in a document: every proposal through its gate, duplicates merged,
 * corrections superseding and never erasing [F55]. Pure: after a conflict the same update is merged again into the
 * newer document, with no model call.
 */

import { userSaid } from "./bindings.ts";
import { applyChanges, type NewChange } from "./changes.ts";
import { type Fact, liveFacts, type MemoryDocument, SECTION_PATHS, sectionText } from "./document.ts";
import {
  checkFact,
  checkSection,
  type Gates,
  type Refusal,
  type RefusalReason,
  refusal,
  type Storable,
} from "./gates.ts";
import { asksToForget } from "./grounds.ts";
import { contradicts, saysTheSame, sharesSubject } from "./likeness.ts";
import type { FactUpdate, MemoryUpdate, Removal, SourceTurn } from "./update.ts";

export interface MergeRules {
  readonly threshold: number;
  readonly maxFacts: number;
  readonly turns: readonly SourceTurn[];
  readonly now: string;
  readonly ids: () => string;
}

export interface MergedUpdate {
  readonly changes: readonly NewChange[];
  readonly refused: readonly Refusal[];
}

/** The most facts one update may add or change: a model that returns hundreds has listed the conversation. */
const MAX_FACTS_PER_UPDATE = 20;

export function mergeUpdate(document: MemoryDocument, update: MemoryUpdate, rules: MergeRules): MergedUpdate {
  const state = openMerge(document, rules);
  for (const proposal of strongest(update, state)) {
    if ("id" in proposal) replaceFact(state, proposal);
    else addFact(state, proposal);
  }
  for (const removal of update.removals) endFact(state, removal);
  for (const rewrite of update.sections) {
    const before = sectionText(state.document, rewrite.path);
    const checked = checkSection(rewrite, state.document, state.gates);
    if (checked.kind === "refused") state.refuse("section", `${rewrite.path}: ${rewrite.text}`, checked.reason);
    else if (checked.value.text !== before) {
      const { text: after, refs: sources } = checked.value;
      state.change({ kind: "rewrite", on: "section", target: rewrite.path, before, after, sources });
    }
  }
  return { changes: [...state.changes, ...evictions(state)], refused: state.refused };
}

/** What one update has done so far: the document as it stands after its changes. */
interface MergeState {
  readonly rules: MergeRules;
  readonly gates: Gates;
  document: MemoryDocument;
  readonly changes: NewChange[];
  readonly refused: Refusal[];
  /** Ids of the facts that this very update took the place of. */
  readonly replaced: Set<string>;
  change(change: NewChange): void;
  refuse(what: Refusal["what"], text: string, reason: RefusalReason): void;
}

function openMerge(document: MemoryDocument, rules: MergeRules): MergeState {
  const known = [
    ...liveFacts(document).map(({ content }) => content),
    ...SECTION_PATHS.map((path) => sectionText(document, path)),
  ];
  const state: MergeState = {
    rules,
    gates: { threshold: rules.threshold, turns: rules.turns, known: known.join("\n") },
    document,
    changes: [],
    refused: [],
    replaced: new Set(),
    change(change) {
      state.changes.push(change);
      const { facts, userContext, history } = applyChanges(state.document, [change], {
        at: rules.now,
        by: "conversation",
      });
      state.document = { ...state.document, facts, userContext, history };
    },
    refuse: (what, text, reason) => state.refused.push(refusal(what, text, reason)),
  };
  return state;
}

/** The surest first, so that the limit cuts off what matters least. */
function strongest(update: MemoryUpdate, state: MergeState): (MemoryUpdate["additions"][number] | FactUpdate)[] {
  const all = [...update.updates, ...update.additions];
  const ranked = all.toSorted((a, b) => b.confidence - a.confidence);
  const over = new Set(ranked.slice(MAX_FACTS_PER_UPDATE));
  for (const { content } of over) state.refuse("addition", content, "too-many");
  return all.filter((proposal) => !over.has(proposal));
}

function addFact(state: MergeState, proposal: MemoryUpdate["additions"][number]): void {
  const checked = checkFact(proposal, state.gates);
  if (checked.kind === "refused") state.refuse("addition", proposal.content, checked.reason);
  else store(state, checked.value, null);
}

/** A fact in another's place. One that speaks of something else is added and replaces nothing [F57]. */
function replaceFact(state: MergeState, proposal: FactUpdate): void {
  const checked = checkFact(proposal, state.gates);
  if (checked.kind === "refused") {
    state.refuse("update", proposal.content, checked.reason);
    return;
  }
  const old = liveFacts(state.document).find(({ id }) => id === proposal.id) ?? null;
  const fits = old !== null && sharesSubject(old.content, checked.value.content);
  if (old === null) state.refuse("update", proposal.content, "unknown-id");
  else if (!fits) state.refuse("update", old.content, "different-subject");
  store(state, checked.value, fits ? old : null);
}

/** Merges with what says the same, supersedes what can't be true any more, or adds. */
function store(state: MergeState, fact: Storable, replaces: Fact | null): void {
  const { now, ids } = state.rules;
  const twin = liveFacts(state.document).find(({ content }) => saysTheSame(content, fact.content));
  if (twin !== undefined) {
    confirm(state, twin, fact);
    return;
  }
  const added: Fact = {
    id: ids(),
    content: fact.content,
    category: fact.category,
    confidence: fact.confidence,
    createdAt: now,
    source: "conversation",
    sourceMessageIds: fact.refs,
    validFrom: now,
  };
  const old = liveFacts(state.document).filter(
    (one) => one.id === replaces?.id || contradicts(one.content, fact.content),
  );
  state.change({ kind: "add", on: "fact", target: added.id, before: null, after: added, sources: fact.refs });
  for (const one of old) supersede(state, one, added);
}

function supersede(state: MergeState, old: Fact, by: Fact): void {
  const after = { ...old, validTo: state.rules.now, supersededBy: by.id };
  const sources = by.sourceMessageIds ?? [];
  state.change({ kind: "supersede", on: "fact", target: old.id, before: old, after, sources });
  state.replaced.add(old.id);
}

function confirm(state: MergeState, twin: Fact, { confidence, refs }: Storable): void {
  const sources = twin.sourceMessageIds ?? [];
  const after: Fact = {
    ...twin,
    confidence: Math.max(twin.confidence, confidence),
    sourceMessageIds: [...sources, ...refs.filter((ref) => !sources.includes(ref))],
    confirmedAt: state.rules.now,
  };
  state.change({ kind: "confirm", on: "fact", target: twin.id, before: twin, after, sources: refs });
}

/** Only with a replacement that was stored, or when the user asked for it in so many words [F56]. */
function endFact(state: MergeState, { id, quote }: Removal): void {
  const fact = liveFacts(state.document).find((one) => one.id === id);
  if (fact === undefined) {
    // Superseded a moment ago by this same update: that is the pairing we ask for.
    if (id === null || !state.replaced.has(id)) state.refuse("removal", quote, "unknown-id");
    return;
  }
  const added = state.changes.flatMap((change) =>
    change.kind === "add" && change.on === "fact" ? [change.after!] : [],
  );
  const requests = state.rules.turns.filter(({ role, text }) => role === "user" && asksToForget(text, fact.content));
  const replacement = added.find((one) => one.id !== fact.id && sharesSubject(fact.content, one.content));
  if (replacement !== undefined) supersede(state, fact, replacement);
  else if (requests.length === 0 || (quote !== "" && !userSaid(quote, requests)))
    state.refuse("removal", fact.content, "no-replacement");
  else {
    const after = { ...fact, validTo: state.rules.now };
    const sources = requests.map(({ ref }) => ref);
    state.change({ kind: "end", on: "fact", target: fact.id, before: fact, after, sources });
  }
}

function evictions(state: MergeState): NewChange[] {
  return overCapacity(state.document, state.rules.maxFacts, state.rules.now).map(({ fact, why }) => ({
    kind: "evict",
    on: "fact",
    target: fact.id,
    before: fact,
    after: null,
    sources: [],
    note: why,
  }));
}

// Which facts stay when there are more than `max_facts`: those with the highest score, and the score can be read. What a
// person wrote goes last. Facts that have ended are history and have a room of their own of the same size.

interface FactScore {
  readonly score: number;
  /** Where it comes from, for the audit. */
  readonly why: string;
}

/** Confidence; a whole point for a person's own; a tenth for what was confirmed; up to three tenths off for a year's age. */
function scoreFact(fact: Fact, now: string): FactScore {
  const days = Math.max(0, (Date.parse(now) - Date.parse(fact.confirmedAt ?? fact.createdAt)) / 86_400_000);
  const age = Number.isFinite(days) ? Math.min(1, days / 365) * 0.3 : 0.3;
  const manual = fact.source === "manual" ? 1 : 0;
  const confirmed = fact.confirmedAt === undefined ? 0 : 0.1;
  const score = fact.confidence + manual + confirmed - age;
  const parts = [`confidence ${fact.confidence.toFixed(2)}`];
  if (manual > 0) parts.push("written by a person +1.00");
  if (confirmed > 0) parts.push("confirmed +0.10");
  if (age >= 0.005) parts.push(`age -${age.toFixed(2)}`);
  return { score, why: `score ${score.toFixed(2)}: ${parts.join(", ")}` };
}

/** The facts that have to go, the lowest score first. */
function overCapacity(document: MemoryDocument, maxFacts: number, now: string): { fact: Fact; why: string }[] {
  const live = liveFacts(document);
  const ended = document.facts.filter((fact) => fact.validTo !== undefined);
  const scored = live.map((fact) => ({ fact, ...scoreFact(fact, now) })).sort((a, b) => a.score - b.score);
  const evicted = scored.slice(0, Math.max(0, live.length - maxFacts));
  const oldest = ended.toSorted((a, b) => (a.validTo! < b.validTo! ? -1 : 1));
  const dropped = oldest.slice(0, Math.max(0, ended.length - maxFacts));
  return [
    ...evicted.map(({ fact, why }) => ({ fact, why: `over max_facts ${maxFacts}; ${why}` })),
    ...dropped.map((fact) => ({ fact, why: `the oldest of more than ${maxFacts} ended facts` })),
  ];
}
