/**
 * The only thing that counts. A sizer knows one model: how it counts a message and a text (the meter), what is sent beside
 * the messages (the fixed part), what its provider accepts (the rules), and what its reports have taught (the account).
 * Made where the model is known: in a run, for a stored thread, in the lab, for an array of messages.
 */

import { sent } from "../log/structure.ts";
import type { ViewEntry } from "../log/view.ts";
import type { BoundMessages } from "../message/bound-reasoning.ts";
import { mend, type Repaired, type RuleSet, type Shape, violations } from "../message/internal.ts";
import type { Account, Count, MessageSize, Meter, PromptSize, Report, Settled } from "../tokens/internal.ts";
import type { PartName } from "./breakdown.ts";
import type { Prompt, SizedEntry } from "./prompt.ts";

/** What is sent beside the messages: system prompt, tool schemas, parameters. In the meter's tokens. */
export interface FixedSize {
  /** Identifies the fixed part, to recognize prompts that share it; null if not computed. */
  readonly hash: string | null;
  readonly parts: Readonly<Partial<Record<PartName, number>>>;
  readonly tokens: number;
}

const NOTHING_FIXED: FixedSize = { hash: null, parts: {}, tokens: 0 };

export function fixedSize(parts: FixedSize["parts"], hash: string | null = null): FixedSize {
  return { hash, parts, tokens: Object.values(parts).reduce((sum, tokens) => sum + tokens, 0) };
}

/** Whose reports the account holds, and what it starts from; null counts by the meter alone. */
interface AccountOf {
  readonly account: Account;
  readonly model: string;
  readonly prior: number;
}

/** One part of a message: its own text, and all that the message loses without it. Only parts that can go are sized. */
interface PartSize {
  readonly text: number;
  readonly whole: number;
}

/** Leaves out the thoughts that a model would refuse behind these messages, where it binds them to what they were made under. */
export type BindReasoning<M> = (messages: readonly M[]) => BoundMessages<M>;

export interface SizerOptions<M> {
  readonly shape: Shape<M>;
  readonly rules: RuleSet;
  readonly meter: Meter<M>;
  readonly fixed?: FixedSize;
  readonly account?: AccountOf | null;
  readonly bind?: BindReasoning<M> | null;
}

export interface Sizer<M> {
  readonly shape: Shape<M>;
  readonly rules: RuleSet;
  readonly meter: Meter<M>;
  /** What it counts on; null: on its meter alone. */
  readonly account: AccountOf | null;
  message(message: M): MessageSize;
  text(text: string): number;
  /** Of each part, by its place. Read once per message object. */
  parts(message: M): readonly PartSize[];
  readonly fixed: FixedSize;
  /** Null: the model takes every thought back. */
  readonly bind: BindReasoning<M> | null;
  /** Another fixed part from here on, and what thoughts are bound to with it. */
  fix(fixed: FixedSize, bind?: BindReasoning<M> | null): void;
  /** From here on counted on these reports. */
  countOn(account: AccountOf): void;
  /** The whole request; `estimate` is what the meter makes of it. */
  count(prompt: PromptSize, estimate: number): Count;
  /** What one of the meter's tokens of the fixed part came to in reports; null before the first one. */
  fixedFactor(): number | null;
  /** Takes the report on a prompt that was sent. */
  settle(report: Report, prompt: PromptSize, window: number | null): Settled;
  /** Grows when the same messages may count differently: after a report, with another fixed part. */
  readonly version: number;
}

export function createSizer<M extends object>(options: SizerOptions<M>): Sizer<M> {
  const { shape, rules, meter } = options;
  const cache = new WeakMap<M, readonly PartSize[]>();
  let { fixed = NOTHING_FIXED, account = null, bind = null } = options;
  let version = 0;
  return {
    shape,
    rules,
    meter,
    get account() {
      return account;
    },
    message: meter.size,
    text: meter.text,
    parts(message) {
      const seen = cache.get(message);
      if (seen !== undefined) return seen;
      const sizes = partSizes(message, shape, meter);
      cache.set(message, sizes);
      return sizes;
    },
    get fixed() {
      return fixed;
    },
    get bind() {
      return bind;
    },
    fix(part, binding = null) {
      fixed = part;
      bind = binding;
      version++;
    },
    countOn(one) {
      account = one;
      version++;
    },
    count: (prompt, estimate) =>
      account === null
        ? { tokens: estimate, source: "estimated" }
        : account.account.count(prompt, { model: account.model, prior: account.prior }),
    fixedFactor: () => account?.account.fixedFactor(account.model) ?? null,
    settle(report, prompt, window) {
      if (account === null) return { kind: "ignored", reason: "implausible" };
      version++;
      return account.account.settle(report, { ...account, prompt, window });
    },
    get version() {
      return version;
    },
  };
}

const NOTHING: PartSize = { text: 0, whole: 0 };

function partSizes<M>(message: M, shape: Shape<M>, meter: Meter<M>): readonly PartSize[] {
  const parts = shape.parts(message);
  return meter.parts(message).map(({ text, images }, index): PartSize => {
    const kind = parts[index]?.kind;
    return kind === "file" || kind === "other" ? NOTHING : { text, whole: text + images };
  });
}

/*
 * The parts of a prompt that its view decides: entries with their sizes, the messages as their provider gets them, and
 * both summed up. Taken over from the prompt before it as far as that began alike, so that the result never depends on
 * how the view came about.
 */

/** What joining two texts may cost beyond the texts. */
const JOIN_TOKENS = 4;

type SizedParts<M> = Pick<
  Prompt<M>,
  "entries" | "messages" | "sources" | "repairs" | "prefix" | "asSent" | "shownTokens" | "sentTokens"
>;

export function partsOf<M>(view: readonly ViewEntry<M>[], sizer: Sizer<M>, given: Prompt<M> | null): SizedParts<M> {
  const before = given !== null && sizesAlike(given.sizer, sizer) ? given : null;
  const { shape, rules } = sizer;
  const common = before === null ? 0 : sameEntries(view, before.entries);
  const sized = before === null ? [] : before.entries.slice(0, common);
  const list = before === null ? [] : before.asSent.given.slice(0, common);
  for (let index = common; index < view.length; index += 1) {
    const entry = sizedEntry(view[index]!, sizer);
    sized.push(entry);
    list.push(entry.sent);
  }
  const whole =
    before === null
      ? asSent(list, shape, rules)
      : grownAsSent(before.asSent, { given: list, kept: common, shape, rules });
  const { repairs, origins } = whole;
  const bound = sizer.bind?.(whole.messages);
  const { messages, prefix } = bound ?? { messages: whole.messages, prefix: null };
  const entries =
    bound === undefined ? sized : sized.map((entry) => withMessage(entry, bound.without(entry.message), sizer));
  return {
    entries,
    messages,
    prefix,
    repairs,
    asSent: whole,
    sources: origins.map((at) => entries[at]?.source ?? "added"),
    shownTokens: sumAfter(before?.entries ?? [], before?.shownTokens ?? 0, entries, ({ tokens }) => tokens),
    sentTokens: sumAfter(before?.messages ?? [], before?.sentTokens ?? 0, messages, (message) =>
      total(sizer.message(message)),
    ),
  };
}

/** What one has sized, the other needn't: the sizes are the meter's, and the same thoughts are left out or none is. */
function sizesAlike<M>(one: Sizer<M>, other: Sizer<M>): boolean {
  if (one === other) return true;
  return one.meter === other.meter && one.rules === other.rules && (one.bind === null) === (other.bind === null);
}

/** The sum over a list, from the sum over another one that begins alike. */
function sumAfter<T>(before: readonly T[], sumBefore: number, now: readonly T[], tokens: (item: T) => number): number {
  const most = Math.min(before.length, now.length);
  let same = 0;
  while (same < most && before[same] === now[same]) same += 1;
  let sum = sumBefore;
  for (let index = same; index < before.length; index += 1) sum -= tokens(before[index]!);
  for (let index = same; index < now.length; index += 1) sum += tokens(now[index]!);
  return sum;
}

/** An entry counts what is sent of it: a thought that is left out is none of it. */
function withMessage<M>(entry: SizedEntry<M>, message: M, sizer: Sizer<M>): SizedEntry<M> {
  const size = sizer.message(message);
  const [before, tokens] = [total(entry.size), total(size)];
  return before === tokens ? entry : { ...entry, size, tokens: entry.tokens - before + tokens };
}

function sizedEntry<M>(entry: ViewEntry<M>, sizer: Sizer<M>): SizedEntry<M> {
  const { source, seq, message, addition, folded } = entry;
  const { shape } = sizer;
  const size = sizer.message(message);
  const additionTokens = addition === null ? 0 : sizer.text(addition);
  const tokens = total(size) + (addition === null ? 0 : additionTokens + JOIN_TOKENS);
  const whole = sent(entry, shape);
  return {
    source,
    seq,
    message,
    addition,
    role: shape.role(message),
    sent: whole,
    size,
    additionTokens,
    tokens,
    ...(folded && { folded }),
  };
}

/** How many entries at the beginning are the same. */
function sameEntries<M>(view: readonly ViewEntry<M>[], entries: readonly SizedEntry<M>[]): number {
  const most = Math.min(view.length, entries.length);
  for (let index = 0; index < most; index += 1) {
    const [one, other] = [view[index]!, entries[index]!];
    if (one.message !== other.message || one.addition !== other.addition || one.seq !== other.seq) return index;
    if (one.source !== other.source) return index;
  }
  return most;
}

function total({ text, images }: MessageSize): number {
  return text + images;
}

export interface AsSent<M> extends Repaired<M> {
  readonly given: readonly M[];
  /** From here to their ends the list that was given and the one that is sent are the same objects. */
  readonly same: { readonly given: number; readonly sent: number };
}

function asSent<M>(given: readonly M[], shape: Shape<M>, rules: RuleSet): AsSent<M> {
  if (violations(given, shape, rules).length === 0)
    return { messages: given, given, repairs: [], origins: [...given.keys()], same: { given: 0, sent: 0 } };
  const mended = mend(given, shape, rules);
  return { ...mended, given, same: sameEnd(given, mended) };
}

/**
 * The same as `asSent(given)`, for a list that mostly grows at its end; `kept` says how many messages at the beginning are
 * those of `before`. Only what came after the last place that nothing crosses is looked at again: where that is in order it
 * is taken as it is, else the whole list is repaired anew.
 */
function grownAsSent<M>(
  before: AsSent<M>,
  { given, kept, shape, rules }: { given: readonly M[]; kept: number; shape: Shape<M>; rules: RuleSet },
): AsSent<M> {
  const from = lastTurn(before, kept, shape);
  if (from === null) return asSent(given, shape, rules);
  const added = given.slice(from);
  if (violations(added, shape, withoutBeginning(rules)).length > 0) return asSent(given, shape, rules);
  const cut = before.same.sent + from - before.same.given;
  const messages = before.messages.slice(0, cut);
  const origins = before.origins.slice(0, cut);
  for (const [index, message] of added.entries()) {
    messages.push(message);
    origins.push(from + index);
  }
  return { messages, origins, repairs: before.repairs, given, same: before.same };
}

/**
 * Where the last user or assistant message stands that was kept and sent as it is. Whatever comes before it was settled
 * with it in its place; a result behind it that is in order answers a call behind it.
 */
function lastTurn<M>({ given, same }: AsSent<M>, kept: number, shape: Shape<M>): number | null {
  for (let index = kept - 1; index >= same.given; index -= 1) {
    const role = shape.role(given[index]!);
    if (role === "user" || role === "assistant") return index;
  }
  return null;
}

const growing = new WeakMap<RuleSet, RuleSet>();

/** The rules that speak of a list's beginning say nothing about what is added to it. */
function withoutBeginning(set: RuleSet): RuleSet {
  const cached = growing.get(set);
  if (cached !== undefined) return cached;
  const rules = set.rules.filter((rule) => rule !== "has-messages" && rule !== "user-first");
  const ruleSet = { name: set.name, rules };
  growing.set(set, ruleSet);
  return ruleSet;
}

function sameEnd<M>(given: readonly M[], { messages, origins }: Repaired<M>): AsSent<M>["same"] {
  let at = given.length;
  let sent = messages.length;
  while (at > 0 && sent > 0 && messages[sent - 1] === given[at - 1] && origins[sent - 1] === at - 1) {
    at -= 1;
    sent -= 1;
  }
  return { given: at, sent };
}

/** For what stands in a prompt and for what might. */
export interface PromptSizes<M> {
  message(message: M): number;
  text(text: string): number;
  parts(message: M): readonly PartSize[];
  /** An entry as it is sent, optionally with another message. */
  entry(entry: SizedEntry<M>, message?: M): number;
}

export function sizesOf<M>({ sizer, factor }: Pick<Prompt<M>, "sizer" | "factor">): PromptSizes<M> {
  const scaled = (tokens: number): number => Math.ceil(tokens * factor);
  const message = (one: M): number => {
    const { text, images } = sizer.message(one);
    return scaled(text + images);
  };
  return {
    message,
    text: (words) => scaled(sizer.text(words)),
    parts: (one) => sizer.parts(one).map(({ text, whole }) => ({ text: scaled(text), whole: scaled(whole) })),
    entry(entry, instead = entry.message) {
      if (instead === entry.message) return entryTokens(entry, factor);
      return message(instead) + (entry.addition === null ? 0 : scaled(entry.additionTokens) + JOIN_TOKENS);
    },
  };
}

/** Of an entry as it is sent. */
export function entryTokens<M>({ size, addition, additionTokens }: SizedEntry<M>, factor: number): number {
  const own = Math.ceil((size.text + size.images) * factor);
  return addition === null ? own : own + Math.ceil(additionTokens * factor) + JOIN_TOKENS;
}

/** What making the entries acceptable to their provider adds to them, in the meter's tokens. */
export function repairTokens<M>({ sentTokens, shownTokens }: Pick<Prompt<M>, "sentTokens" | "shownTokens">): number {
  return Math.max(0, sentTokens - shownTokens);
}

/** What no entry accounts for: system prompt, tool schemas, what repairs add. */
export function fixedTokens<M>(prompt: Prompt<M>): number {
  return Math.ceil(prompt.fixed.tokens * prompt.fixedFactor + repairTokens(prompt) * prompt.factor);
}

/** The messages get what the fixed part leaves of the count, and at least half of what it would be by an even factor. */
export function factorsOf(
  tokens: number,
  { fixed, shown, known }: { fixed: number; shown: number; known: number | null },
): Pick<Prompt<unknown>, "factor" | "fixedFactor"> {
  const even = tokens / Math.max(1, fixed + shown);
  if (known === null || fixed === 0 || shown === 0) return { factor: even, fixedFactor: even };
  const most = tokens - (even * shown) / 2;
  const fixedFactor = Math.min(known, most / fixed);
  return { factor: (tokens - fixedFactor * fixed) / shown, fixedFactor };
}
