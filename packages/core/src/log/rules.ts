/**
 * Standing rules: sentences that bind later turns, kept word for word in a thread's state (`rules`). Owns what a rule is,
 * how a stored list is read, and the acts on it; each act returns a new list or says why it can't be done. The prompt
 * shows the rules in force (`view.ts`); who may make a rule is decided by the caller.
 */
import type { Shape } from "../message/shape.ts";
import { flatten, isRecord } from "../text/names.ts";
import type { PruneEntry } from "./record.ts";
import { liftedBy, namesNewest, plainWords, replaces, sameWords } from "./rule-words.ts";
import type { LiveRecords, ViewEntry } from "./view.ts";

export interface Rule {
  /** Unique in its thread and never used twice: `r1`, `r2`. */
  readonly id: string;
  readonly text: string;
  /** Seq of the message it stands in; null if a person set it or it was copied from elsewhere. */
  readonly source: number | null;
  /** Whose rule it is. Rules of users, agents and files are copies: they follow their origin. */
  readonly scope: RuleScope;
  /** How it came about. */
  readonly by: "recognized" | "hand" | "model";
  /** `proposed`: it waits for a person and is not shown. */
  readonly status: "active" | "proposed" | "ended";
  /** ISO 8601: when it took its present status. */
  readonly at: string;
  /** Why it ended: the id of the rule that took its place, `message 12` if its words lifted it, or a word. */
  readonly ended?: string;
}

type RuleScope = "thread" | "user" | "agent" | "file";

export interface RuleList {
  /** Number of the next id. */
  readonly next: number;
  readonly list: readonly Rule[];
}

export const NO_RULES: RuleList = { next: 1, list: [] };

/** Limits on the rules in force, and on one rule. Every prompt after a compaction carries all of them. */
export const RULE_LIMITS = { count: 20, tokens: 1000, characters: 500 } as const;
/** Stands for words that were erased. */
export const REDACTED = "[redacted]";
/** Ended rules that are remembered, so that they can be restored. */
const REMEMBERED = 40;

/** The rules in a thread's state. Anything that is not a rule is left out. */
export function readRules(state: Readonly<Record<string, unknown>>): RuleList {
  const stored = state["rules"];
  if (!isRecord(stored) || !Array.isArray(stored["list"])) return NO_RULES;
  const list = stored["list"].filter(isRule);
  const next = typeof stored["next"] === "number" ? stored["next"] : list.length + 1;
  return { next, list };
}

function isRule(value: unknown): value is Rule {
  if (!isRecord(value)) return false;
  return ["id", "text", "scope", "status", "by"].every((field) => typeof value[field] === "string");
}

export function rulesInForce({ list }: RuleList): readonly Rule[] {
  return list.filter(({ status }) => status === "active");
}

/** An estimate that errs on the high side for English; core has no tokenizer at this place. */
export function ruleTokens(rules: readonly Pick<Rule, "text">[]): number {
  return rules.reduce((sum, { text }) => sum + Math.ceil(text.length / 3.5) + 3, 0);
}

export type RuleChange =
  | { readonly kind: "changed"; readonly rules: RuleList; readonly rule: Rule; readonly ended: readonly Rule[] }
  | { readonly kind: "refused"; readonly reason: RuleRefusal; readonly problem: string };

type RuleRefusal = "empty-rule" | "long-rule" | "too-many-rules" | "no-rule" | "copied-rule" | "erased";

export interface NewRule extends Partial<Pick<Rule, "source" | "scope" | "by">> {
  readonly text: string;
}

/** A person's rule, at once in force. Refused beyond the limits, with what could be ended first. */
export function addRule(rules: RuleList, given: NewRule, at: string): RuleChange {
  const text = ruleText(given.text);
  if (text === "") return refused("empty-rule", "a rule needs at least one word");
  if (text.length > RULE_LIMITS.characters)
    return refused("long-rule", `a rule has at most ${RULE_LIMITS.characters} characters, this one has ${text.length}`);
  const inForce = rulesInForce(rules);
  const twin = inForce.find((rule) => sameWords(rule.text, text));
  if (twin !== undefined) return { kind: "changed", rules, rule: twin, ended: [] };
  const ended = inForce.filter((rule) => yields(rule) && replaces(text, rule.text, "hand"));
  const full = overLimits([...inForce.filter((rule) => !ended.includes(rule)), { text }]);
  if (full !== null) return refused("too-many-rules", `${full}: end one first, for example ${endable(inForce)}`);
  return added(rules, { ...given, text }, { at, status: "active", ended });
}

/** Recognized rules: those that fit are in force; others, and those a model names, are proposals. The same list if none is new. */
export function recognizeRules(
  rules: RuleList,
  found: readonly (NewRule & { readonly source: number; readonly liftsAt?: string })[],
  at: string,
): RuleList {
  let list = rules;
  for (const { liftsAt, ...one } of found) {
    if (liftsAt !== undefined) {
      const { ended } = liftRules(list, { ...one, liftsAt }, rules);
      list = endAll(list, ended, liftedIn(one.source), at);
      continue;
    }
    const text = ruleText(one.text);
    if (text === "" || text.length > RULE_LIMITS.characters) continue;
    // One that a person ended stays ended, however often its message is read again.
    if (list.list.some((rule) => rule.source === one.source && sameWords(rule.text, text))) continue;
    const inForce = rulesInForce(list);
    if (inForce.some((rule) => sameWords(rule.text, text))) continue;
    const ended = inForce.filter((rule) => yields(rule) && replaces(text, rule.text, "recognized"));
    const full = overLimits([...inForce.filter((rule) => !ended.includes(rule)), { text }]);
    const status = full === null && one.by !== "model" ? "active" : "proposed";
    if (status === "proposed" && isKnownProposal(list, text)) continue;
    const change = added(
      list,
      { by: "recognized", ...one, text },
      { at, status, ended: status === "active" ? ended : [] },
    );
    if (change.kind === "changed") list = change.rules;
  }
  return list;
}

/** Why a rule ended that a message lifted. */
export function liftedIn(source: number): string {
  return `message ${source}`;
}

interface Lift {
  readonly text: string;
  readonly source: number;
  readonly liftsAt: string;
}

/**
 * What a sentence that lifts a rule does: the rules it ends, and those it means that stay, because only recognized rules end by
 * words. `before`: the stored list. A message is read again at each compaction until it is hidden, so a sentence that
 * means the newest rule counts only until something ended, or was set by hand, after it.
 */
export function liftRules(
  list: RuleList,
  { text, source, liftsAt }: Lift,
  before: RuleList = list,
): { readonly ended: readonly Rule[]; readonly kept: readonly Rule[] } {
  const isLater = ({ scope, status, by, at }: Rule): boolean =>
    scope === "thread" && at >= liftsAt && (status === "ended" || by === "hand");
  if (namesNewest(text) && before.list.some(isLater)) return { ended: [], kept: [] };
  const said = rulesInForce(list).filter((rule) =>
    rule.by === "recognized" ? (rule.source ?? 0) < source : rule.at < liftsAt,
  );
  const meant = liftedBy(text, said);
  const ended = meant.filter(({ scope, by }) => scope === "thread" && by === "recognized");
  return { ended, kept: meant.filter((rule) => !ended.includes(rule)) };
}

/** It waits already, or as many wait as could ever hold. */
function isKnownProposal({ list }: RuleList, text: string): boolean {
  const waiting = list.filter(({ status }) => status === "proposed");
  return waiting.length >= RULE_LIMITS.count || waiting.some((rule) => sameWords(rule.text, text));
}

/** Other words: the old rule ends and names the one that took its place. */
export function editRule(rules: RuleList, id: string, text: string, at: string): RuleChange {
  const old = owned(rules, id);
  if ("kind" in old) return old;
  const without = withRule(rules, { ...old, status: "ended", at, ended: `r${rules.next}` });
  const change = addRule(without, { text, source: null, by: "hand" }, at);
  return change.kind === "refused" ? change : { ...change, ended: [...asEnded(without.list, [old]), ...change.ended] };
}

export function endRule(rules: RuleList, id: string, at: string): RuleChange {
  const rule = owned(rules, id);
  if ("kind" in rule) return rule;
  const now: Rule = { ...rule, status: "ended", at, ended: "hand" };
  return { kind: "changed", rules: withRule(rules, now), rule: now, ended: [now] };
}

/** An ended rule or a proposal, in force from now on. */
export function restoreRule(rules: RuleList, id: string, at: string): RuleChange {
  const rule = owned(rules, id);
  if ("kind" in rule) return rule;
  if (rule.text === REDACTED) return refused("erased", `the text of rule ${id} was erased with its message`);
  const inForce = rulesInForce(rules).filter((other) => other.id !== id);
  const ended = inForce.filter((other) => yields(other) && replaces(rule.text, other.text, "hand"));
  const full = overLimits([...inForce.filter((other) => !ended.includes(other)), rule]);
  if (full !== null) return refused("too-many-rules", `${full}: end one first, for example ${endable(inForce)}`);
  const { ended: _, ...rest } = rule;
  // A person has set it now, and it is the newest.
  const now: Rule = { ...rest, by: "hand", status: "active", at };
  const after = endAll(rules, ended, id, at);
  const list = [...after.list.filter((other) => other.id !== id), now];
  return { kind: "changed", rules: { ...after, list }, rule: now, ended: asEnded(list, ended) };
}

/** Rules that hold in many threads, by whose they are. */
export type RulesByScope = Readonly<Partial<Record<Exclude<RuleScope, "thread">, readonly string[]>>>;

/**
 * The copies of other scopes' rules, made equal to their origin: new texts are added, texts that are gone end. The same list
 * if nothing changed, so that nothing is written. What doesn't fit waits as a proposal.
 */
export function copyRules(rules: RuleList, sources: RulesByScope, at: string): RuleList {
  const scopes = (["agent", "user", "file"] as const).filter((scope) => sources[scope] !== undefined);
  return scopes.reduce((now, scope) => copiedScope(now, scope, sources[scope] ?? [], at), rules);
}

function copiedScope(rules: RuleList, scope: Rule["scope"], texts: readonly string[], at: string): RuleList {
  const fitting = texts.map(ruleText).filter((text) => text !== "" && text.length <= RULE_LIMITS.characters);
  const wanted = [...new Set(fitting)];
  const mine = rules.list.filter(
    (rule) => rule.scope === scope && (rule.status !== "ended" || isReplaced(rule, rules)),
  );
  const gone = mine.filter(({ status, text }) => status !== "ended" && !wanted.includes(text));
  let now = endAll(rules, gone, "origin", at);
  for (const text of wanted) {
    if (mine.some((rule) => rule.text === text)) continue;
    const full = overLimits([...rulesInForce(now), { text }]);
    const status = full === null ? "active" : "proposed";
    now = added(now, { text, scope, by: "hand" }, { at, status, ended: [] }).rules;
  }
  return now;
}

/** Ended by a rule of this thread that still holds: its copy doesn't come back. */
function isReplaced({ ended }: Rule, rules: RuleList): boolean {
  return rulesInForce(rules).some(({ id }) => id === ended);
}

/** What a person says in a thread ends their own rules, not those of the agent and its files. */
function yields({ scope }: Rule): boolean {
  return scope === "thread" || scope === "user";
}

/** The list without a message's words: rules that stand in it, or repeat it, end and lose their text. */
export function eraseRules(value: unknown, isGone: (rule: Rule) => boolean): unknown {
  const rules = readRules({ rules: value });
  if (!rules.list.some((rule) => rule.text !== REDACTED && isGone(rule))) return value;
  const list = rules.list.map((rule): Rule => {
    return isGone(rule) ? { ...rule, text: REDACTED, status: "ended", ended: "erased" } : rule;
  });
  return { ...rules, list };
}

const RULES_HEADING =
  "[Standing rules of this conversation, word for word. They hold until they are changed. They never override the system prompt.]";

export function renderRules(rules: readonly Rule[]): string {
  return [RULES_HEADING, ...rules.map(({ text }) => `- ${text}`)].join("\n");
}

/** Stands in a summary for the words of a rule that ended. */
export const ENDED_RULE = "[ended rule]";

/** A text that was written earlier, with a mark for each rule that ended since; a rule in force stands as it is. */
export function withoutEnded(text: string, { list }: RuleList): string {
  const ended = list.filter((rule) => rule.status === "ended" && rule.text !== REDACTED);
  if (ended.length === 0 || text === "") return text;
  const inForce = list.filter(({ status }) => status === "active");
  // Rules in force come first and win where both begin: the words of an ended one may stand inside them.
  const [kept, gone] = [inForce, ended].map((rules) => rules.map(wordsPattern).filter((one) => one !== ""));
  if (gone!.length === 0) return text;
  const alternatives = [...kept!.map((one) => `(${one})`), ...gone!].join("|");
  const words = new RegExp(`(?<![\\p{L}\\p{N}])(?:${alternatives})(?![\\p{L}\\p{N}])\\.?`, "giu");
  return text.replaceAll(words, (match, ...groups) => {
    return groups.slice(0, kept!.length).some((group) => group !== undefined) ? match : ENDED_RULE;
  });
}

/** Matches a rule's words whatever stands between them; empty for a rule of one word, which says too little. */
function wordsPattern({ text }: Rule): string {
  const words = plainWords(text);
  return words.length < 2 ? "" : words.map((word) => word.replaceAll(/[.+]/g, "\\$&")).join("[^\\p{L}\\p{N}]+");
}

/** Names what the rules add to a view. */
export function rulesKey({ next, list }: RuleList): string {
  return `${next}:${list.flatMap(({ id, status }) => (status === "active" ? [id] : [])).join(",")}`;
}

/** After a compaction all rules in force; before it those whose message is no longer shown word for word. */
export function rulesToShow({
  rules: all,
  compaction,
  prunes,
}: Pick<LiveRecords, "rules" | "compaction" | "prunes">): string[] {
  const rules = rulesInForce(all);
  const touches = (seq: number) => (entry: PruneEntry) => (entry.from ?? entry.target) <= seq && seq <= entry.target;
  const isSaid = ({ source }: Rule): boolean =>
    source !== null && !prunes.some(({ entries }) => entries.some(touches(source)));
  const shown = compaction === null ? rules.filter((rule) => !isSaid(rule)) : rules;
  return shown.length === 0 ? [] : [renderRules(shown)];
}

/** The rules behind the system messages that a thread begins with. */
export function withRules<M>(
  tail: readonly ViewEntry<M>[],
  rules: readonly ViewEntry<M>[],
  shape: Shape<M>,
): ViewEntry<M>[] {
  const first = tail.findIndex(({ message }) => shape.role(message) !== "system");
  const at = first < 0 ? tail.length : first;
  return [...tail.slice(0, at), ...rules, ...tail.slice(at)];
}

/** A rule is one line. */
function ruleText(text: string): string {
  return flatten(text).trim();
}

function added(
  rules: RuleList,
  { text, source = null, scope = "thread", by = "hand" }: NewRule,
  { at, status, ended }: { at: string; status: Rule["status"]; ended: readonly Rule[] },
): Extract<RuleChange, { kind: "changed" }> {
  const origin = { text, source, scope, by };
  const rule: Rule = { id: `r${rules.next}`, ...origin, status, at };
  const { list } = endAll(rules, ended, rule.id, at);
  const now = bounded({ next: rules.next + 1, list: [...list, rule] });
  return { kind: "changed", rules: now, rule, ended: asEnded(list, ended) };
}

/** As they are now. */
function asEnded(list: readonly Rule[], gone: readonly Rule[]): readonly Rule[] {
  return list.filter(({ id }) => gone.some((one) => one.id === id));
}

function endAll(rules: RuleList, gone: readonly Rule[], why: string, at: string): RuleList {
  return gone.reduce((now, rule) => withRule(now, { ...rule, status: "ended", at, ended: why }), rules);
}

function withRule(rules: RuleList, now: Rule): RuleList {
  return { ...rules, list: rules.list.map((rule) => (rule.id === now.id ? now : rule)) };
}

/** The oldest ended ones are forgotten. */
function bounded({ next, list }: RuleList): RuleList {
  const over = list.filter(({ status }) => status !== "active").length - REMEMBERED;
  if (over <= 0) return { next, list };
  const gone = new Set(list.filter(({ status }) => status === "ended").slice(0, over));
  return { next, list: list.filter((rule) => !gone.has(rule)) };
}

/** People leave out the letter of an id. */
function didYouMean(list: readonly Rule[], id: string): string {
  return list.some((one) => one.id === `r${id}`) ? `; did you mean r${id}?` : "";
}

function owned({ list }: RuleList, id: string): Rule | Extract<RuleChange, { kind: "refused" }> {
  const rule = list.find((one) => one.id === id);
  if (rule === undefined)
    return refused("no-rule", `there is no rule ${JSON.stringify(id.slice(0, 40))}${didYouMean(list, id)}`);
  if (rule.scope !== "thread")
    return refused("copied-rule", `rule ${id} is a copy of a rule of the ${rule.scope}: change it there`);
  return rule;
}

function overLimits(rules: readonly Pick<Rule, "text">[]): string | null {
  if (rules.length > RULE_LIMITS.count) return `at most ${RULE_LIMITS.count} rules hold at a time`;
  if (ruleTokens(rules) > RULE_LIMITS.tokens) return `rules take at most ${RULE_LIMITS.tokens} tokens together`;
  return null;
}

function endable(rules: readonly Rule[]): string {
  return rules
    .filter(({ scope }) => scope === "thread")
    .slice(0, 3)
    .map(({ id, text }) => `${id} (${text.slice(0, 60)})`)
    .join(", ");
}

function refused(reason: RuleRefusal, problem: string): Extract<RuleChange, { kind: "refused" }> {
  return { kind: "refused", reason, problem };
}
