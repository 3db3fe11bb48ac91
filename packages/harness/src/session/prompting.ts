/**
 * The prompts of one open thread and the reports on them: what would be sent, what was sent last, and the usage record
 * that settles a report on it. Writes nothing; whoever holds the thread commits the record.
 */
import { sizeOf } from "@palimpsest/core/internal/prompt";
import type { UsageFlaw, UsageRecord } from "@palimpsest/core/log";
import type { FixedSize, Prompt } from "@palimpsest/core/prompt";
import type { Usage } from "../models/usage.ts";
import { livePrompt, shownAt } from "../threads/live-prompt.ts";
import type { RecordInput } from "../threads/writer.ts";
import {
  countOnReports,
  type OpenSizer,
  type OpenSizerOptions,
  openSizer,
  type StoredConversation,
} from "./open-sizer.ts";
import type { WindowBook } from "./window-book.ts";

export interface PromptingOptions<M extends object> extends Omit<OpenSizerOptions<M>, "window"> {
  readonly book: WindowBook;
  readonly clock: () => Date;
}

export interface Prompting<M> {
  /** What would be sent now. */
  prompt(): Prompt<M>;
  /** The same, and it is sent: the next report is on it. */
  ask(): Asked<M>;
  fixed(): FixedSize;
  /** Another system prompt, other tools from here on. */
  fix(fixed: FixedSize): void;
  /** When the provider was asked last, as far as its reports say. */
  lastAt(): number | null;
  /** The usage record for the message at `of`. `asked`: what it answered, when that isn't what was sent last. */
  report(usage: Usage, of: number, asked?: Asked<M> | null): UsageInput;
  /** Somebody else has written: counts on the reports that the log has now. */
  recount(): Promise<void>;
  /** For whoever opens the thread next. */
  opened(): OpenSizer<M>;
}

/** A prompt that was sent, and the view it showed. */
export interface Asked<M> {
  readonly prompt: Prompt<M>;
  readonly measured: UsageRecord["measured"];
}

export type UsageInput = Extract<RecordInput, { kind: "usage" }>;

export async function openPrompting<M extends object>(
  thread: StoredConversation<M>,
  { book, clock, ...options }: PromptingOptions<M>,
): Promise<Prompting<M>> {
  const { conversation } = thread;
  const { model, prior } = options;
  const window = (): number => book.window().size;
  const { sizer, ...known } = await openSizer(thread, { ...options, window });
  const prompt = livePrompt(conversation, sizer, known.prompt);
  let { lastAt } = known;
  let last: Asked<M> | null = null;
  const now = (): Asked<M> => {
    const measured = { ...shownAt(conversation), promptHash: sizer.fixed.hash };
    return { prompt: prompt(), measured };
  };
  return {
    prompt,
    ask() {
      last = now();
      return last;
    },
    fixed: () => sizer.fixed,
    fix: (fixed) => sizer.fix(fixed),
    lastAt: () => lastAt,
    report(usage, of, asked = last) {
      const { prompt: sent, measured } = asked ?? now();
      const settled = sizer.settle({ of, ...usage }, sizeOf(sent), window());
      lastAt = clock().getTime();
      if (settled.kind === "accepted") book.accept(usage.input);
      return {
        kind: "usage",
        of,
        model,
        ...usage,
        measured,
        factor: settled.kind === "accepted" ? settled.factor : null,
        flaw: settled.kind === "accepted" ? null : flawOf(settled.reason),
      };
    },
    async recount() {
      const asked = await countOnReports(thread, { sizer, prompt: prompt(), model, prior, window });
      lastAt = asked ?? lastAt;
    },
    opened: () => ({ sizer, prompt: last?.prompt ?? known.prompt, lastAt }),
  };
}

function flawOf(reason: string): UsageFlaw {
  return reason === "zero" || reason === "over-window" ? reason : "implausible";
}
