/**
 * The deterministic summarizer that needs no model: quotes the user, keeps the assistant's decisions, troubles and
 * conclusions, names the names that came back, and says where things stand. It folds: what a prior state holds stays,
 * `now` and `next` are replaced, and the ledger grows. Same input, same bytes; linear in the messages; any language.
 */
import type { Shape } from "../message/shape.ts";
import { SPACELESS_LETTER } from "../text/analyze.ts";
import { clip, namesIn, sentences } from "../text/names.ts";
import { cuesOf, type Gathered, gather, type NameHome, type SaidText } from "./gather.ts";
import { extendLedger, type NumberedMessage } from "./ledger.ts";
import { isChanged } from "./ledger-lines.ts";
import {
  addItems,
  emptyState,
  MAX_ITEM_CHARS,
  type NewItem,
  neutralize,
  type SummaryState,
  withSection,
} from "./state.ts";
import { atOnce } from "./work.ts";

export interface ExtractOptions {
  /** Tokens of new items; what the prior state holds is not charged. */
  readonly maxTokens: number;
  readonly count: (text: string) => number;
}

/** Shares of the budget. What a section leaves over goes to the names. */
const SHARE = {
  goals: 0.3,
  decisions: 0.2,
  errors: 0.07,
  now: 0.06,
  next: 0.05,
  facts: 0.12,
  media: 0.08,
};

export function extractSummary<M>(
  prior: SummaryState | null,
  entries: readonly NumberedMessage<M>[],
  shape: Shape<M>,
  options: ExtractOptions,
): SummaryState {
  return atOnce(extractSteps(prior, entries, shape, options));
}

/** The same as a generator, so that the caller can yield to other work. */
export function* extractSteps<M>(
  prior: SummaryState | null,
  entries: readonly NumberedMessage<M>[],
  shape: Shape<M>,
  options: ExtractOptions,
): Generator<void, SummaryState> {
  let state = prior ?? emptyState();
  if (entries.length === 0) return state;
  const gathered = yield* gather(entries, shape);
  const ledger = extendLedger(state.ledger, entries, shape);
  yield;
  state = { ...state, ledger, through: Math.max(state.through, entries.at(-1)!.seq) };

  // Names the ledger will show anyway are no news.
  const covered = new Set(ledger.files.filter(isChanged).map((file) => file.path));
  const budget = Math.max(0, options.maxTokens);
  const pick = function* (candidates: readonly SentenceCandidate[], share: number) {
    yield;
    const { count } = options;
    return yield* choose(candidates, { maxTokens: budget * share, count, frequency: gathered.frequency, covered });
  };

  const spoken = yield* classify(gathered.assistant);
  const wishes = yield* goalCandidates(gathered.user, state.sections.goals.length === 0);
  const goals = yield* pick(wishes, SHARE.goals);
  const now = yield* pick(statusCandidates(gathered.assistant), SHARE.now);
  const next = yield* pick(spoken.next.slice(-12), SHARE.next);
  const decisions = yield* pick(spoken.decisions, SHARE.decisions);
  const errors = yield* pick(spoken.errors, SHARE.errors);
  const facts = yield* pick(spoken.facts, SHARE.facts);
  const media = mediaItems(gathered.media, budget * SHARE.media, options.count);
  const spent = [goals, now, next, decisions, errors, facts, media].reduce((sum, part) => sum + part.tokens, 0);
  const names = nameItems(gathered, covered, { maxTokens: budget - spent, count: options.count });

  state = addItems(state, "goals", goals.items);
  state = addItems(state, "decisions", decisions.items);
  state = addItems(state, "errors", errors.items);
  state = addItems(state, "facts", [...facts.items, ...media.items, ...names]);
  if (now.items.length > 0) state = addItems(withSection(state, "now", []), "now", now.items);
  if (next.items.length > 0) state = addItems(withSection(state, "next", []), "next", next.items);
  return state;
}

/** Of one text, in characters: sentences are looked for in its beginning. */
const MAX_READ = 1_000_000;

/** The user's words: requests quoted, the sentences that constrain the work before the rest. */
function* goalCandidates(said: readonly SaidText[], isFirstBlock: boolean): Generator<void, SentenceCandidate[]> {
  const candidates: SentenceCandidate[] = [];
  for (const [index, { seq, text }] of said.entries()) {
    yield;
    const opening = isFirstBlock && index === 0;
    const start = text.trimStart().slice(0, 10_000).trimEnd();
    const request = clip(start.replaceAll(/\s+/g, " "), opening ? MAX_ITEM_CHARS - 100 : 280);
    const { text: quote } = neutralize(request, "user");
    // "ok", "go on": nothing to remember, and an approval that is spent.
    const courtesy =
      request.length < 12 || (request.length < 80 && /^(?:thank|great|perfect|nice|cool|wow)/i.test(request));
    if (courtesy && newsOf(request).length === 0 && !opening) continue;
    const last = index === said.length - 1;
    candidates.push({ text: quote, seq, bonus: opening ? 1000 : last ? 20 : 1 + (index / said.length) * 2 });
    if (text.length <= 280) continue;
    for (const sentence of sentences(text.slice(0, MAX_READ)).slice(1)) {
      yield;
      if (!cuesOf(sentence).has("constraint") || request.includes(sentence)) continue;
      candidates.push({ text: neutralize(sentence, "user").text, seq, bonus: 2 });
    }
  }
  return candidates;
}

interface SentenceGroups {
  readonly decisions: SentenceCandidate[];
  readonly errors: SentenceCandidate[];
  readonly facts: SentenceCandidate[];
  readonly next: SentenceCandidate[];
}

function* classify(said: readonly SaidText[]): Generator<void, SentenceGroups> {
  const spoken: SentenceGroups = { decisions: [], errors: [], facts: [], next: [] };
  for (const [index, { seq, text }] of said.entries()) {
    yield;
    for (const sentence of sentences(text.slice(0, MAX_READ))) {
      yield;
      if (isEmptyTalk(sentence)) continue;
      const cues = cuesOf(sentence);
      const candidate: SentenceCandidate = {
        text: neutralize(sentence, "other").text,
        seq,
        bonus: index / said.length,
      };
      if (cues.has("decision")) spoken.decisions.push({ ...candidate, bonus: candidate.bonus + 1 });
      else if (cues.has("trouble")) spoken.errors.push(candidate);
      else spoken.facts.push(cues.has("done") ? { ...candidate, bonus: candidate.bonus + 0.5 } : candidate);
      // Only late plans can still be open.
      if (cues.has("next") && !cues.has("done") && index >= said.length - 6)
        spoken.next.push({ ...candidate, bonus: 1 + index / said.length });
    }
  }
  return spoken;
}

const POLITE =
  /^(?:please (?:let|provide|confirm|tell|share|feel)|would you like|could you (?:please )?(?:provide|confirm|tell)|let me know|feel free|if you (?:need|have|would)|is there anything|how (?:can|may) i|you(?:'|’)re welcome|thank(?:s| you)|i(?:'|’)m (?:glad|happy|here)|have a )/iu;

/** Announcements and courtesies: "The approach:", "Let me look.", "Please let me know." */
function isEmptyTalk(sentence: string): boolean {
  if (
    !/[\p{L}\p{N}]/u.test(sentence) ||
    (sentence.length < 8 && !SPACELESS_LETTER.test(sentence)) ||
    POLITE.test(sentence)
  )
    return true;
  const announces = /^(?:now,? )?(?:let me|let's|good|great|perfect|ok(?:ay)?)\b/iu.test(sentence);
  return (announces || (sentence.endsWith(":") && sentence.length < 60)) && newsOf(sentence).length < 2;
}

/** Where things stand: how the last words of the assistant begin and end. */
function statusCandidates(said: readonly SaidText[]): SentenceCandidate[] {
  const candidates: SentenceCandidate[] = [];
  for (const [back, { seq, text }] of said.slice(-3).reverse().entries()) {
    const all = sentences(text);
    const edges = all.length <= 4 ? all : [...all.slice(0, 2), ...all.slice(-2)];
    const telling = edges.filter((sentence) => !isEmptyTalk(sentence));
    // Better an announcement than the status of an earlier block.
    const worded = edges.filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
    for (const sentence of telling.length === 0 && candidates.length === 0 ? worded : telling)
      candidates.push({ text: neutralize(sentence, "other").text, seq, bonus: (3 - back) * 10 });
  }
  return candidates;
}

/** What was given beside words, newest first as far as there is room: the words alone don't say that it was there. */
function mediaItems(
  given: readonly SaidText[],
  maxTokens: number,
  count: (text: string) => number,
): { readonly items: readonly NewItem[]; readonly tokens: number } {
  const items: NewItem[] = [];
  let tokens = 0;
  for (const { seq, text } of given.toReversed()) {
    const cost = count(text) + 8;
    if (tokens + cost > maxTokens) break;
    tokens += cost;
    items.unshift({ text: neutralize(text, "other").text, seqs: [seq] });
  }
  return { items, tokens };
}

/** What each tool was asked for by name and nothing chosen so far holds: it is what the work was about. */
function nameItems(
  gathered: Gathered,
  covered: Set<string>,
  budget: { maxTokens: number; count: (text: string) => number },
): NewItem[] {
  const items: NewItem[] = [];
  let left = budget.maxTokens;
  const worth = (name: string) => (covered.has(name) ? 0 : nameWorth(name, gathered.frequency.get(name) ?? 1));
  const byWorth = (homes: readonly NameHome[]) =>
    homes
      .map((home) => ({ ...home, sum: home.names.reduce((sum, name) => sum + worth(name), 0) }))
      .sort((a, b) => b.sum - a.sum || a.seq - b.seq);
  for (const home of byWorth(gathered.asked)) {
    if (left < 12) break;
    const weighed = home.names.map((name) => ({ name, worth: worth(name) }));
    const fresh = weighed.filter((item) => item.worth > 0).sort((a, b) => b.worth - a.worth);
    const listed: string[] = [];
    let length = 0;
    for (const { name } of fresh) {
      if (listed.length >= 24 || length + name.length > MAX_ITEM_CHARS - 120) break;
      listed.push(name);
      length += name.length + 2;
    }
    if (listed.length < 2) continue;
    const text = `${home.label}: ${listed.join(", ")}`;
    const tokens = budget.count(text) + 8;
    if (tokens > left) continue;
    left -= tokens;
    for (const name of listed) covered.add(name);
    items.push({ text, seqs: [home.seq] });
  }
  return items.sort((a, b) => a.seqs[0]! - b.seqs[0]!);
}

/** A name in several turns is likely to be needed again; a long one costs more than it tells. */
function nameWorth(name: string, frequency: number): number {
  return (frequency >= 2 ? 1 + Math.min(frequency, 8) / 4 : 0.25) * (name.length > 80 ? 0.3 : 1);
}

/*
 * Chooses sentences under a token budget: the most news per token, where news is names nothing chosen so far holds.
 * Greedy over a bounded number of candidates, ties by position, so the choice is the same every time.
 */

interface SentenceCandidate {
  readonly text: string;
  readonly seq: number;
  /** Added to the score: position, cue, the user's first words. */
  readonly bonus: number;
}

interface Weighed extends SentenceCandidate {
  readonly base: number;
  readonly tokens: number;
  readonly news: readonly string[];
}

interface ChooseOptions {
  readonly maxTokens: number;
  readonly count: (text: string) => number;
  readonly frequency: ReadonlyMap<string, number>;
  /** Names already shown; grows by what is chosen. */
  readonly covered: Set<string>;
}

const MAX_CANDIDATES = 1500;
/** Seqs, bullet, line break. */
const ITEM_OVERHEAD = 8;

/** A step is a thousand candidates, or one that is chosen. */
function* choose(
  candidates: readonly SentenceCandidate[],
  options: ChooseOptions,
): Generator<void, { readonly items: NewItem[]; readonly tokens: number }> {
  const score = (weighed: Weighed) => {
    let value = weighed.base;
    for (const name of weighed.news) if (!options.covered.has(name)) value += worth(options.frequency.get(name) ?? 1);
    return value / (weighed.tokens + ITEM_OVERHEAD) ** 0.6;
  };
  const scored: { readonly weighed: Weighed; readonly score: number }[] = [];
  for (const [index, candidate] of distinct(candidates).entries()) {
    if (index % 1000 === 0) yield;
    const weighed = weigh(candidate, options.count);
    scored.push({ weighed, score: score(weighed) });
  }
  const pool = new Set(
    scored
      .sort((a, b) => b.score - a.score || a.weighed.seq - b.weighed.seq)
      .slice(0, MAX_CANDIDATES)
      .map(({ weighed }) => weighed),
  );
  const chosen: Weighed[] = [];
  let left = options.maxTokens;
  for (;;) {
    yield;
    let best: Weighed | null = null;
    let bestScore = 0;
    for (const weighed of pool) {
      if (weighed.tokens + ITEM_OVERHEAD > left) pool.delete(weighed);
      else if (best === null || score(weighed) > bestScore) [best, bestScore] = [weighed, score(weighed)];
    }
    if (best === null) break;
    pool.delete(best);
    left -= best.tokens + ITEM_OVERHEAD;
    chosen.push(best);
    for (const name of best.news) options.covered.add(name);
  }
  chosen.sort((a, b) => a.seq - b.seq);
  return { items: chosen.map(({ text, seq }) => ({ text, seqs: [seq] })), tokens: options.maxTokens - left };
}

function weigh(candidate: SentenceCandidate, count: (text: string) => number): Weighed {
  const base = candidate.bonus + plainWorth(candidate.text);
  return { ...candidate, base, tokens: count(candidate.text), news: newsOf(candidate.text) };
}

/** What comes back is likely to be needed again. */
function worth(frequency: number): number {
  return frequency >= 2 ? 1 + Math.min(frequency, 8) / 4 : 0.5;
}

/** The names in a text, each once. */
export function newsOf(text: string): string[] {
  return [...new Set(namesIn(text).map((name) => name.text))];
}

/** Prose carries something too: its longer words, or its length where words aren't spaced. */
function plainWorth(text: string): number {
  const words = SPACELESS_LETTER.test(text)
    ? text.length / 4
    : text.split(/\s+/).filter((word) => word.length > 5).length;
  return Math.min(words, 12) * 0.08;
}

function distinct(candidates: readonly SentenceCandidate[]): SentenceCandidate[] {
  const seen = new Map<string, SentenceCandidate>();
  // Of repeated words the newest utterance counts.
  for (const candidate of candidates) {
    const old = seen.get(candidate.text);
    if (old === undefined || candidate.bonus >= old.bonus) seen.set(candidate.text, candidate);
  }
  return [...seen.values()];
}
