/**
 * The token account of one run's thread: resumed from the reports in the log, asked before every request, settled with
 * every report. Turns a provider's usage into the record that the log keeps.
 */
import { entrySize } from "@palimpsest/core/internal/compaction";
import { resumeAccount, viewKey } from "@palimpsest/core/internal/tokens";
import type { UsageFlaw, ViewEntry } from "@palimpsest/core/log";
import type { AiSdkMessage } from "@palimpsest/core/message";
import type { Account, Count, Meter, PromptSize } from "@palimpsest/core/tokens";
import type { RecordInput } from "../threads/writer.ts";
import type { StepUsage } from "./events.ts";
import { readUsages } from "./read-records.ts";
import type { Run } from "./run.ts";

type UsageDraft = Extract<RecordInput, { kind: "usage" }>;
type View = readonly ViewEntry<AiSdkMessage>[];

export interface LedgerOptions {
  readonly modelId: string;
  readonly prior: number;
  readonly meter: Meter<AiSdkMessage>;
  readonly window: () => number;
  readonly fixed: () => number;
  /** The messages as they would be sent, repairs included. */
  readonly render: (view: View) => readonly AiSdkMessage[];
  /** What the thread's run before this one left, if nothing was written to the thread since. */
  readonly before: Settled | null;
}

/** What the reports on a thread have come to. */
export interface Settled {
  readonly account: Account;
  /** When the provider was asked last, if it was. */
  readonly lastAt: number | null;
}

export interface Ledger extends Settled {
  count(view: View): Count;
  /** Notes what is about to be sent: the next report is on it. */
  send(): void;
  /** The usage record for the message at `of`. */
  report(usage: StepUsage, of: number, promptHash: string): UsageDraft;
}

export async function openLedger(run: Run, options: LedgerOptions): Promise<Ledger> {
  const { modelId: model, prior, meter } = options;
  const { conversation, deps } = run;
  const liveView = () => {
    const { compaction, prunes } = conversation.head();
    return { compaction, prune: prunes.at(-1) ?? null };
  };
  const promptOf = (view: View): PromptSize => {
    const entries = view.map((entry) => ({ seq: entry.seq, tokens: entrySize(entry, meter) }));
    const added = meter.messages(options.render(view)) - entries.reduce((sum, { tokens }) => sum + tokens, 0);
    const repairs = added > 0 ? [{ seq: null, tokens: added }] : [];
    return { view: viewKey(liveView()), fixed: options.fixed(), entries: [...entries, ...repairs] };
  };
  let asked: PromptSize | null = null;
  const resume = async (): Promise<Settled> => {
    const { factors } = conversation.head();
    const usages = await readUsages(deps.store, run.threadId, conversation.head());
    const resumed = { prompt: promptOf(conversation.view()), factors, priorOf: () => prior, window: options.window() };
    const newest = usages.at(-1);
    return {
      account: resumeAccount(usages, resumed),
      lastAt: newest === undefined ? null : Date.parse(newest.at),
    };
  };
  const { account, lastAt: resumedAt } = options.before ?? (await resume());
  let lastAt = resumedAt;
  return {
    account,
    count: (view) => account.count(promptOf(view), { model, prior }),
    get lastAt() {
      return lastAt;
    },
    send() {
      asked = promptOf(conversation.view());
    },
    report(usage, of, promptHash) {
      const prompt = asked ?? promptOf(conversation.view());
      const settled = account.settle({ of, ...usage }, { model, prior, prompt, window: options.window() });
      lastAt = deps.clock().getTime();
      return {
        kind: "usage",
        of,
        model,
        ...usage,
        measured: { ...liveView(), promptHash },
        factor: settled.kind === "accepted" ? settled.factor : null,
        flaw: settled.kind === "accepted" ? null : flawOf(settled.reason),
      };
    },
  };
}

function flawOf(reason: string): UsageFlaw {
  return reason === "zero" || reason === "over-window" ? reason : "implausible";
}
