/** The parts of a prompt that its view decides, taken over from the prompt before it as far as that began alike. */
import { sent, type ViewEntry } from "../log/view.ts";
import type { MessageSize } from "../tokens/index.ts";
import { asSent, grownAsSent } from "./as-sent.ts";
import type { Prompt, SizedEntry } from "./prompt.ts";
import type { Sizer } from "./sizer.ts";

/** What joining two texts may cost beyond the texts. */
export const JOIN_TOKENS = 4;

type Parts<M> = Pick<
  Prompt<M>,
  "entries" | "messages" | "sources" | "repairs" | "prefix" | "asSent" | "shownTokens" | "sentTokens"
>;

export function partsOf<M>(view: readonly ViewEntry<M>[], sizer: Sizer<M>, given: Prompt<M> | null): Parts<M> {
  const before = given?.sizer === sizer ? given : null;
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
  const { source, seq, message, addition } = entry;
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
