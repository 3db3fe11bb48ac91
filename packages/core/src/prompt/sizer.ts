/**
 * The only thing that counts. A sizer knows one model: how it counts a message and a text (the meter), what is sent beside
 * the messages (the fixed part), what its provider accepts (the rules), and what its reports have taught (the account).
 * Made where the model is known: in a run, for a stored thread, in the lab, for an array of messages.
 */
import type { BoundMessages } from "../message/bound-reasoning.ts";
import type { RuleSet, Shape } from "../message/index.ts";
import type { Account, Count, MessageSize, Meter, PartName, PromptSize, Report, Settled } from "../tokens/index.ts";

/** What is sent beside the messages: system prompt, tool schemas, parameters. In the meter's tokens. */
export interface FixedSize {
  /** Names the very part, so that two prompts with the same one can be told; null when nobody hashed it. */
  readonly hash: string | null;
  readonly parts: Readonly<Partial<Record<PartName, number>>>;
  readonly tokens: number;
}

const NOTHING_FIXED: FixedSize = { hash: null, parts: {}, tokens: 0 };

export function fixedSize(parts: FixedSize["parts"], hash: string | null = null): FixedSize {
  return { hash, parts, tokens: Object.values(parts).reduce((sum, tokens) => sum + tokens, 0) };
}

/** Whose reports the account holds, and what it starts from; null counts by the meter alone. */
export interface AccountOf {
  readonly account: Account;
  readonly model: string;
  readonly prior: number;
}

/** One part of a message: its own text, and all that the message loses without it. Only parts that can go are sized. */
export interface PartSize {
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
  // A picture has no text to count: it is as large as what the message loses without it.
  const lost = (rest: M): number => Math.max(0, meter.message(message) - meter.message(rest));
  return shape.parts(message).map((part, index): PartSize => {
    if (part.kind === "image") return { text: 0, whole: lost(shape.withPart(message, index, EMPTY)) };
    if (part.kind === "file" || part.kind === "other") return NOTHING;
    const text = meter.text(part.kind === "call" ? part.input : part.text);
    if (part.kind !== "result" || part.images.length === 0) return { text, whole: text };
    return { text, whole: lost(shape.withPart(message, index, { ...part, text: "", images: [] })) };
  });
}

const EMPTY = { kind: "text", text: "" } as const;
