/**
 * The sizer of one open thread: the one that was left before, or a new one whose account is resumed from the reports in
 * the log.
 */
import { sizeOf } from "@palimpsest/core/internal/prompt";
import { resumeAccount } from "@palimpsest/core/internal/tokens";
import type { Head, UsageRecord } from "@palimpsest/core/log";
import { createSizer, type FixedSize, type Prompt, type Sizer, type SizerOptions } from "@palimpsest/core/prompt";
import type { Store } from "../stores/store.ts";
import type { Conversation } from "../threads/conversation.ts";
import { livePrompt } from "../threads/live-prompt.ts";

/** What a thread is counted with, and what was counted last: whoever opens it next goes on from it. */
export interface OpenSizer<M> {
  readonly sizer: Sizer<M>;
  readonly prompt: Prompt<M> | null;
  /** When the provider was asked last, if it was. */
  readonly lastAt: number | null;
}

/** Who is asked: whose reports count, what they start from, and the most it takes. */
export interface CountedModel {
  readonly model: string;
  readonly prior: number;
  readonly window: () => number;
}

export interface OpenSizerOptions<M extends object>
  extends Pick<SizerOptions<M>, "shape" | "rules" | "meter">,
    CountedModel {
  readonly fixed: FixedSize;
  readonly before: OpenSizer<M> | null;
}

/** An open thread and where it is stored. */
export interface StoredConversation<M> {
  readonly store: Store;
  readonly conversation: Conversation<M>;
}

export async function openSizer<M extends object>(
  thread: StoredConversation<M>,
  options: OpenSizerOptions<M>,
): Promise<OpenSizer<M>> {
  const { shape, rules, meter, fixed, before } = options;
  if (before !== null) {
    before.sizer.fix(fixed);
    return before;
  }
  const sizer = createSizer({ shape, rules, meter, fixed });
  const prompt = livePrompt(thread.conversation, sizer)();
  return { sizer, prompt, lastAt: await countOnReports(thread, { ...options, sizer, prompt }) };
}

/** From here on the sizer counts on what the log reports; returns when the provider was asked last. */
export async function countOnReports<M>(
  { store, conversation }: StoredConversation<M>,
  { sizer, prompt, model, prior, window }: CountedModel & { readonly sizer: Sizer<M>; readonly prompt: Prompt<M> },
): Promise<number | null> {
  const head = conversation.head();
  const usages = await readUsages(store, conversation.header.id, head);
  const resumed = { prompt: sizeOf(prompt), factors: head.factors, priorOf: () => prior, window: window() };
  sizer.countOn({ account: resumeAccount(usages, resumed), model, prior });
  const newest = usages.at(-1);
  return newest === undefined ? null : Date.parse(newest.at);
}

/** Enough to learn a model's factor from; more would only cost time on a long tail. */
const REPORTS = 64;

/** The newest reports on what is visible now, oldest first. */
async function readUsages(store: Store, thread: string, head: Head): Promise<UsageRecord[]> {
  const range = [head.hiddenThrough + 1, head.version] as const;
  const found: UsageRecord[] = [];
  if (head.usage === null || range[0] > range[1]) return found;
  for await (const { record } of store.records(thread, { range, kinds: ["usage"], order: "descending" })) {
    if (record.kind === "usage" && record.flaw == null) found.push(record);
    if (found.length >= REPORTS) break;
  }
  return found.toReversed();
}
