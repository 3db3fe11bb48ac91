/**
 * A prompt is a value: the view's entries with their sizes, the messages as they are sent, what had to be repaired, the
 * fixed part and the one count of it all. Trigger, plan, request, breakdown and dry run read the same one. Built from the
 * prompt before it, only what differs is done again; the result is the same either way.
 */
import { type MessageSource, sent, type ViewEntry } from "../log/view.ts";
import type { Repair, Role } from "../message/index.ts";
import type { Count, MessageSize, PromptSize } from "../tokens/index.ts";
import { type AsSent, asSent, grownAsSent } from "./as-sent.ts";
import type { FixedSize, Sizer } from "./sizer.ts";

/** One entry of the view and its size, in the meter's tokens. */
export interface SizedEntry<M> extends ViewEntry<M> {
  readonly role: Role;
  /** The message as it is sent: with what was lent to it. */
  readonly sent: M;
  readonly size: MessageSize;
  /** Of what was lent to it. */
  readonly lentTokens: number;
  /** All of it. */
  readonly tokens: number;
}

export interface Prompt<M> {
  /** Which view this is: equal keys mean that one prompt is the other one grown on. */
  readonly key: string;
  readonly entries: readonly SizedEntry<M>[];
  /** As they are sent, each with what it begins with. */
  readonly messages: readonly M[];
  readonly sources: readonly MessageSource[];
  readonly repairs: readonly Repair[];
  /** How the messages came to be sent so: what the next prompt goes on from. */
  readonly asSent: AsSent<M>;
  readonly fixed: FixedSize;
  /** In the meter's tokens: the entries, and the messages as sent. They differ by what joining and repairs do. */
  readonly shownTokens: number;
  readonly sentTokens: number;
  /** The whole request. */
  readonly count: Count;
  /** What one of the meter's tokens comes to in `count`. */
  readonly factor: number;
  /** Who sized it; whatever a plan makes of it is sized the same way. */
  readonly sizer: Sizer<M>;
}

export interface PromptOptions<M> {
  readonly sizer: Sizer<M>;
  /** Names the view, as `viewKey` does. */
  readonly key: string;
  /** The prompt before this one, of the same sizer. */
  readonly before?: Prompt<M> | null;
}

export function buildPrompt<M>(view: readonly ViewEntry<M>[], { sizer, key, before }: PromptOptions<M>): Prompt<M> {
  const parts = partsOf(view, sizer, before ?? null);
  const estimate = Math.max(1, sizer.fixed.tokens + Math.max(parts.shownTokens, parts.sentTokens));
  const count = sizer.count(sizeOf({ key, fixed: sizer.fixed, ...parts }), estimate);
  return { key, ...parts, fixed: sizer.fixed, count, factor: count.tokens / estimate, sizer };
}

/** A prompt that is only considered: counted as the one it would replace. */
export function considerPrompt<M>(view: readonly ViewEntry<M>[], instead: Prompt<M>): Prompt<M> {
  const { sizer, fixed, factor, key } = instead;
  const parts = partsOf(view, sizer, instead);
  const tokens = Math.ceil((fixed.tokens + parts.sentTokens) * factor);
  const source = instead.count.source === "estimated" ? "estimated" : "adjusted";
  return { key, ...parts, fixed, count: { tokens, source }, factor, sizer };
}

/** As the account takes it: the entries in order, and what repairs add as one more. */
export function sizeOf<M>({
  key,
  fixed,
  entries,
  shownTokens,
  sentTokens,
}: Pick<Prompt<M>, "key" | "fixed" | "entries" | "shownTokens" | "sentTokens">): PromptSize {
  const added = sentTokens - shownTokens;
  return {
    view: key,
    fixed: fixed.tokens,
    entries: added > 0 ? [...entries, { seq: null, tokens: added }] : entries,
  };
}

/** What joining two texts may cost beyond the texts. */
export const JOIN_TOKENS = 4;

type Parts<M> = Pick<
  Prompt<M>,
  "entries" | "messages" | "sources" | "repairs" | "asSent" | "shownTokens" | "sentTokens"
>;

function partsOf<M>(view: readonly ViewEntry<M>[], sizer: Sizer<M>, given: Prompt<M> | null): Parts<M> {
  const before = given?.sizer === sizer ? given : null;
  const { shape, rules } = sizer;
  const kept = before === null ? 0 : sameEntries(view, before.entries);
  const entries = before === null ? [] : before.entries.slice(0, kept);
  const list = before === null ? [] : before.asSent.given.slice(0, kept);
  for (let index = kept; index < view.length; index += 1) {
    const entry = sizedEntry(view[index]!, sizer);
    entries.push(entry);
    list.push(entry.sent);
  }
  const whole =
    before === null ? asSent(list, shape, rules) : grownAsSent(before.asSent, { given: list, kept, shape, rules });
  const { messages, repairs, origins } = whole;
  return {
    entries,
    messages,
    repairs,
    asSent: whole,
    sources: origins.map((at) => entries[at]?.source ?? "added"),
    shownTokens: sumAfter(before?.entries ?? [], before?.shownTokens ?? 0, entries, ({ tokens }) => tokens),
    sentTokens: sumAfter(before?.messages ?? [], before?.sentTokens ?? 0, messages, (message) =>
      total(sizer.message(message)),
    ),
  };
}

/** The sum over a list, from the sum over another one that begins alike. */
function sumAfter<T>(before: readonly T[], known: number, now: readonly T[], tokens: (item: T) => number): number {
  const most = Math.min(before.length, now.length);
  let same = 0;
  while (same < most && before[same] === now[same]) same += 1;
  let sum = known;
  for (let index = same; index < before.length; index += 1) sum -= tokens(before[index]!);
  for (let index = same; index < now.length; index += 1) sum += tokens(now[index]!);
  return sum;
}

function sizedEntry<M>(entry: ViewEntry<M>, sizer: Sizer<M>): SizedEntry<M> {
  const { source, seq, message, lent } = entry;
  const { shape } = sizer;
  const size = sizer.message(message);
  const lentTokens = lent === null ? 0 : sizer.text(lent);
  const tokens = total(size) + (lent === null ? 0 : lentTokens + JOIN_TOKENS);
  const whole = sent(entry, shape);
  return {
    source,
    seq,
    message,
    lent,
    role: shape.role(message),
    sent: whole,
    size,
    lentTokens,
    tokens,
  };
}

/** How many entries at the beginning are the same. */
function sameEntries<M>(view: readonly ViewEntry<M>[], entries: readonly SizedEntry<M>[]): number {
  const most = Math.min(view.length, entries.length);
  for (let index = 0; index < most; index += 1) {
    const [one, other] = [view[index]!, entries[index]!];
    if (one.message !== other.message || one.lent !== other.lent || one.seq !== other.seq) return index;
    if (one.source !== other.source) return index;
  }
  return most;
}

function total({ text, images }: MessageSize): number {
  return text + images;
}
