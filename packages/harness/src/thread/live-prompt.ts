/**
 * The prompt of an open conversation under one sizer. It is a value and stays the same until something is said, a
 * report comes or the fixed part changes; then only what differs is worked out again. The sizer is the one that was left
 * before, or a new one whose account is resumed from the reports in the log.
 */
import { sizeOf } from "@palimpsest/core/internal/prompt";
import { resumeAccount, viewKey } from "@palimpsest/core/internal/tokens";
import type { UsageRecord } from "@palimpsest/core/log";
import { buildPrompt, createSizer, type Prompt, type Sizer, type SizerOptions } from "@palimpsest/core/prompt";
import type { Store } from "../stores/store.ts";
import type { Conversation } from "./conversation.ts";

/** `before`: a prompt to start from. */
export function livePrompt<M>(
  conversation: Conversation<M>,
  sizer: Sizer<M>,
  before: Prompt<M> | null = null,
): () => Prompt<M> {
  let prompt = before;
  let built: { readonly view: unknown; readonly key: string; readonly version: number } | null = null;
  return () => {
    const view = conversation.view();
    const key = keyOf(conversation);
    const { version } = sizer;
    if (prompt === null || built?.view !== view || built.key !== key || built.version !== version) {
      prompt = buildPrompt(view, { sizer, key, before: prompt });
      built = { view, key, version };
    }
    return prompt;
  };
}

/** Names the view a conversation shows, as the records of usage do. */
export function shownAt<M>(conversation: Conversation<M>) {
  const { compaction, prunes } = conversation.head();
  return { compaction, prune: prunes.at(-1) ?? null };
}

function keyOf<M>(conversation: Conversation<M>): string {
  return viewKey(shownAt(conversation));
}

/** What a thread is counted with, and what was counted last: whoever opens it next goes on from it. */
export interface OpenSizer<M> {
  readonly sizer: Sizer<M>;
  readonly prompt: Prompt<M> | null;
  /** When the provider was asked last, if it was. */
  readonly lastAt: number | null;
  /** Others have written since: what they report is not counted yet. */
  readonly moved?: boolean;
}

/** An open thread and where it is stored. */
interface StoredConversation<M> {
  readonly store: Store;
  readonly conversation: Conversation<M>;
}

/** Whose reports count, what they start from, and the most the model takes. */
interface CountedModel {
  readonly model: string;
  readonly prior: number;
  readonly window: () => number;
}

export async function openSizer<M extends object>(
  thread: StoredConversation<M>,
  options: CountedModel & { readonly before: OpenSizer<M> | null } & Required<
      Omit<SizerOptions<M>, "shape" | "account">
    >,
): Promise<OpenSizer<M>> {
  const { rules, meter, fixed, bind, before } = options;
  const { shape } = thread.conversation;
  if (before !== null && !before.moved && countsFor(options, before.sizer)) {
    const { account } = before.sizer;
    if (before.sizer.shape !== shape)
      return { ...before, sizer: createSizer({ shape, rules, meter, fixed, bind, account }) };
    before.sizer.fix(fixed, bind);
    return before;
  }
  const sizer = createSizer({ shape, rules, meter, fixed, bind });
  const prompt = livePrompt(thread.conversation, sizer, before?.prompt)();
  return { sizer, prompt, lastAt: await countOnReports(thread, sizer, { ...options, prompt }) };
}

/** Another agent may have left it, which asks another model or knows other tools. */
function countsFor<M>(
  { meter, model, prior }: CountedModel & Pick<SizerOptions<M>, "meter">,
  sizer: Sizer<M>,
): boolean {
  return sizer.meter === meter && sizer.account?.model === model && sizer.account.prior === prior;
}

/** From here on the sizer counts on what the log reports; returns when the provider was asked last. */
export async function countOnReports<M>(
  { store, conversation }: StoredConversation<M>,
  sizer: Sizer<M>,
  { prompt, model, prior, window }: CountedModel & { readonly prompt: Prompt<M> },
): Promise<number | null> {
  const head = conversation.head();
  const reports = await readReports(store, conversation);
  const resumed = { prompt: sizeOf(prompt), factors: head.factors, priorOf: () => prior, window: window() };
  sizer.countOn({ account: resumeAccount(reports, resumed), model, prior });
  const newest = reports.at(-1);
  return newest === undefined ? null : Date.parse(newest.at);
}

/** Enough to learn a model's factor from; more would only cost time on a long tail. */
export const REPORTS = 64;

/** The newest reports on what is visible now, oldest first. */
async function readReports<M>(store: Store, conversation: Conversation<M>): Promise<readonly UsageRecord[]> {
  const { hiddenThrough, version, usage } = conversation.head();
  const range = [hiddenThrough + 1, version] as const;
  if (usage === null || range[0] > range[1]) return [];
  const known = conversation.reports?.() ?? null;
  if (known !== null) return known.filter(isFlawless).slice(-REPORTS);
  const reports: UsageRecord[] = [];
  const query = { range, kinds: ["usage"], order: "descending" } as const;
  for await (const { record } of store.records(conversation.header.id, query)) {
    if (record.kind === "usage" && isFlawless(record)) reports.push(record);
    if (reports.length >= REPORTS) break;
  }
  return reports.toReversed();
}

function isFlawless({ flaw }: UsageRecord): boolean {
  return flaw == null;
}
