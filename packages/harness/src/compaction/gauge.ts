/**
 * One honest measure of a conversation's next request, for the trigger, the plan and the outcome alike. The account's
 * count (anchored on reports) sets the scale; parts and hypothetical views are weighed by the meter on that scale.
 */

import type { Growth, Measure, Window } from "@palimpsest/core/compaction";
import { entrySize } from "@palimpsest/core/internal/compaction";
import type { ViewEntry } from "@palimpsest/core/log";
import type { RuleSet } from "@palimpsest/core/message";
import type { Count, CountSource, Meter } from "@palimpsest/core/tokens";
import type { Conversation } from "../threads/conversation.ts";
import { type SentMessages, sentMessages } from "../threads/sent-messages.ts";

export interface GaugeOptions<M> {
  readonly meter: Meter<M>;
  readonly rules: RuleSet;
  readonly window: () => Window;
  /** System prompt and tool schemas, as the meter counts them. */
  readonly fixed: () => number;
  /** The whole request as the account counts it; null counts by the meter alone. */
  readonly count: ((view: readonly ViewEntry<M>[]) => Count) | null;
}

export interface Gauge<M> {
  readonly view: readonly ViewEntry<M>[];
  readonly tokens: number;
  readonly source: CountSource;
  /** Before the first report a little less of the window counts as usable. */
  readonly window: Window;
  /** What isn't a message of the view: system prompt, tool schemas, what repairs add. */
  readonly fixed: number;
  readonly measure: Measure<M>;
  tokensOf(view: readonly ViewEntry<M>[]): number;
  /** The messages as they would be sent. */
  render(view: readonly ViewEntry<M>[]): SentMessages<M>;
  /** What was said after a record; null for the beginning. */
  grownSince(seq: number): Growth | null;
}

const UNPROVEN = 1.05;

export function gauge<M>(conversation: Conversation<M>, options: GaugeOptions<M>): Gauge<M> {
  const { meter, rules } = options;
  const { shape } = conversation;
  const view = conversation.view();
  const render = (entries: readonly ViewEntry<M>[]): SentMessages<M> => sentMessages(entries, shape, rules);
  const fixed = options.fixed();
  const shown = view.reduce((sum, entry) => sum + entrySize(entry, meter), 0);
  const whole = meter.messages(render(view).messages);
  const estimate = Math.max(1, fixed + Math.max(shown, whole));
  const counted = options.count?.(view) ?? { tokens: estimate, source: "estimated" as const };
  const scale = counted.tokens / estimate;
  const scaled = (tokens: number): number => Math.ceil(tokens * scale);
  return {
    view,
    tokens: counted.tokens,
    source: counted.source,
    window: counted.source === "estimated" ? cautious(options.window()) : options.window(),
    fixed: scaled(fixed + Math.max(0, whole - shown)),
    measure: scaledMeasure(meter, scale),
    tokensOf: (entries) => scaled(fixed + meter.messages(render(entries).messages)),
    render,
    grownSince(seq) {
      if (seq === 0) return null;
      const later = view.filter((entry) => entry.source === "message" && (entry.seq ?? 0) > seq);
      const messages = later.map((entry) => entry.message);
      return {
        tokens: scaled(meter.messages(messages)),
        messages: messages.filter((message) => shape.role(message) !== "system").length,
      };
    },
  };
}

/** One measure object per meter and scale, so that what others remember about it stays found. */
const measures = new WeakMap<object, { readonly scale: number; readonly measure: unknown }>();

function scaledMeasure<M>(meter: Meter<M>, scale: number): Measure<M> {
  const known = measures.get(meter);
  if (known?.scale === scale) return known.measure as Measure<M>;
  const measure: Measure<M> = {
    message: (message) => Math.ceil(meter.message(message) * scale),
    text: (text) => Math.ceil(meter.text(text) * scale),
  };
  measures.set(meter, { scale, measure });
  return measure;
}

function cautious({ size, reserve }: Window): Window {
  return { size, reserve: Math.ceil(size - (size - reserve) / UNPROVEN) };
}
