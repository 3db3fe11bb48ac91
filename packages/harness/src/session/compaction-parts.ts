/** What a compactor on a stored thread needs beside the prompt and a writer: the settings, at work in one place. */
import { isCold } from "@palimpsest/core/internal/pricing";
import { RELATIVE_PRICES } from "@palimpsest/core/pricing";
import { drafting } from "../compaction/background.ts";
import type { CompactorOptions } from "../compaction/compactor.ts";
import { type DraftTable, draftTable } from "../compaction/draft-table.ts";
import { readQuotes } from "../compaction/pins.ts";
import type { Summarization } from "../config/summarization.ts";
import type { ThreadDeps } from "../threads/writer.ts";

export interface CompactionPartsOptions {
  readonly deps: ThreadDeps;
  readonly threadId: string;
  readonly settings: Summarization;
  /** When the provider was asked last. */
  readonly lastAt: () => number | null;
  /** What a draft depends on beside the conversation. */
  readonly label: string;
  /** `no`: nothing is drafted ahead, whatever the settings say. */
  readonly ahead: "yes" | "no";
}

export interface CompactionParts
  extends Pick<CompactorOptions<object>, "policy" | "prune" | "quotes" | "clock" | "background"> {
  /** Where what is prepared for the thread is kept. */
  readonly table: DraftTable;
  /** Whether the provider may still hold the last request in its cache. */
  readonly cache: () => "warm" | "cold";
}

export function compactionParts(options: CompactionPartsOptions): CompactionParts {
  const { deps, threadId, settings, lastAt, label, ahead } = options;
  const { store, clock } = deps;
  const { enabled, from, protectTokens, minGainTokens } = settings.prune;
  const policy = { protectTokens, minGainTokens, ...(from === null ? {} : { from }) };
  const cache = () => (isCold(lastAt(), clock().getTime(), RELATIVE_PRICES) ? "cold" : "warm");
  const table = draftTable(store.drafts, threadId, clock);
  return {
    table,
    cache,
    clock,
    policy: settings.policy,
    prune: enabled ? () => ({ policy, cache: cache() }) : null,
    quotes: readQuotes(store, threadId),
    background: drafting({ table, label, ahead: settings.drafts && store.drafts !== undefined ? ahead : "no" }),
  };
}
