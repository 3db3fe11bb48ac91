/**
 * An account after a restart: the reports of the present view, settled again in order. Needs the head's factors, the
 * view's entries and the tail's usage records, all of which a load has at hand; nothing hidden is read.
 */
import type { UsageRecord } from "../log/record.ts";
import { type Account, createAccount, type PromptSize, viewKey } from "./account.ts";

export interface Resume {
  /** The present prompt; its messages' entries are in the log's order. */
  readonly prompt: PromptSize;
  readonly factors: Readonly<Record<string, number>>;
  /** The model family's prior for the counter that counted the prompt. */
  readonly priorOf: (model: string) => number;
  readonly window: number | null;
}

type Usage = Pick<UsageRecord, "of" | "model" | "measured" | "input" | "output">;

export function resumeAccount(usages: readonly Usage[], { prompt, factors, priorOf, window }: Resume): Account {
  const account = createAccount({ factors });
  for (const usage of usages) {
    if (viewKey(usage.measured) !== prompt.view) continue;
    const entries = prompt.entries.slice(0, lengthBefore(usage.of, prompt));
    const { model } = usage;
    account.settle(usage, { model, prior: priorOf(model), prompt: { ...prompt, entries }, window });
  }
  return account;
}

/** How many entries stood in the prompt that message `of` answered. */
function lengthBefore(of: number, { entries }: PromptSize): number {
  const at = entries.findIndex(({ seq }) => seq !== null && seq >= of);
  return at < 0 ? entries.length : at;
}
