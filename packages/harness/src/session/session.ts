/**
 * One open thread and one model: its prompts, their counts and compactions, what to do about a refusal for length. An
 * agent's run and a thread that is open for another loop stand on it alike. Calls no model itself.
 */
import type { CompactionOutcome } from "@palimpsest/core/compaction";
import { isCold } from "@palimpsest/core/internal/pricing";
import { maskSecrets } from "@palimpsest/core/internal/text";
import type { Prices } from "@palimpsest/core/pricing";
import { drafting } from "../compaction/background.ts";
import {
  type Compactor,
  type CompactorOptions,
  type CompactRequest,
  createCompactor,
} from "../compaction/compactor.ts";
import { type DraftTable, draftTable } from "../compaction/draft-table.ts";
import type { CompactionEvent } from "../compaction/events.ts";
import { readQuotes } from "../compaction/summary-job.ts";
import type { SummaryWriter } from "../compaction/summary-writer.ts";
import type { Summarization } from "../config/summarization.ts";
import type { ModelCounter } from "../models/tokenizers.ts";
import type { ThreadDeps } from "../threads/writer.ts";
import { inTurn } from "./hold.ts";
import type { ModelWindow } from "./model-window.ts";
import type { Moved, OpenLog } from "./open-log.ts";
import { type Overflow, overflowOf } from "./overflow.ts";
import { cacheTerms, type PromptCache } from "./prompt-cache.ts";
import { openPrompting, type Prompting, type PromptingOptions } from "./prompting.ts";

export interface OverflowEvent {
  readonly type: "overflow-recover";
  readonly reason: string;
  /** The limit the provider stated, if it did. */
  readonly stated: number | null;
  /** What the prompt is made to fit now. */
  readonly window: number;
}

export type ThreadEvent = CompactionEvent | OverflowEvent;

export interface SessionOptions<M extends object>
  extends Omit<PromptingOptions<M>, "clock" | "hash" | "prior">,
    Pick<CompactorOptions<M>, "archive"> {
  readonly deps: ThreadDeps;
  readonly counter: ModelCounter;
  readonly settings: Summarization;
  /** Who writes the summaries; null: they are extracted. */
  readonly writer: (place: WriterContext<M>) => SummaryWriter | null;
  /** Names what a draft depends on beside the conversation. */
  readonly label: string;
  /** `no`: nothing is drafted ahead, whatever the settings say. */
  readonly ahead: "yes" | "no";
  readonly originals: NonNullable<CompactorOptions<M>["originals"]>;
  readonly prices: Prices;
  readonly promptCache: PromptCache;
  readonly on: (event: ThreadEvent) => void;
}

/** What a summary writer may need of the session it writes for. */
export interface WriterContext<M> {
  readonly prompting: Prompting<M>;
  /** Where what is prepared for the thread is kept. */
  readonly drafts: DraftTable;
  /** Whether the provider may still hold the last request in its cache. */
  readonly cache: () => "warm" | "cold";
  readonly window: () => number;
  /** The same today and tomorrow, so that a resumed summary is cut where it was cut before. */
  readonly count: (text: string) => number;
}

export interface Session<M> extends Omit<Prompting<M>, "recount" | "lastAt"> {
  readonly log: OpenLog<M>;
  readonly modelWindow: ModelWindow;
  /** What others have written is counted from here on; for whoever has caught up with the log. */
  counted(moved: Moved): Promise<void>;
  /** One after the other. */
  compact(request: CompactRequest): Promise<CompactionOutcome<M>>;
  /**
   * After a failed call: true when it failed because the prompt was too long and the next one is shorter. Throws a
   * `FloorError` when nothing that small can be made.
   */
  recover(error: unknown, signal: AbortSignal): Promise<boolean>;
  /** Resolves when no draft is being written. */
  settled(): Promise<void>;
  /** Stops a draft being written. The log stays open. */
  close(): Promise<void>;
}

export async function openSession<M extends object>(log: OpenLog<M>, options: SessionOptions<M>): Promise<Session<M>> {
  const { deps, counter, modelWindow, on } = options;
  const { clock, hash, store } = deps;
  const { conversation } = log;
  const { prior } = counter;
  const thread = { store, conversation };
  const { recount, lastAt, ...prompting } = await openPrompting(thread, { ...options, prior, clock, hash });
  const counted = async (moved: Moved): Promise<void> => {
    if (moved !== "current") await recount();
  };
  const compactor = openCompactor(log.onSameFold(counted), options, { ...prompting, recount, lastAt });
  const oneByOne = inTurn((work) => work());
  const compact = (request: CompactRequest) => oneByOne(() => compactor.compact(request));
  return {
    ...prompting,
    log,
    modelWindow,
    counted,
    compact,
    async recover(error, signal) {
      const overflow = overflowOf(error);
      if (overflow === null) return false;
      const { tokens } = prompting.prompt().count;
      const window = windowAfter(overflow, modelWindow, tokens);
      const reason = maskSecrets(error instanceof Error ? error.message || error.name : String(error));
      on({ type: "overflow-recover", reason, stated: overflow.limit, window: window.size });
      const outcome = await compact({ cause: "overflow", model: "none", signal, window });
      return outcome.kind === "compacted";
    },
    settled: compactor.settled,
    close: compactor.close,
  };
}

function openCompactor<M extends object>(
  conversation: OpenLog<M>["conversation"],
  options: SessionOptions<M>,
  prompting: Prompting<M>,
): Compactor<M> {
  const { deps, counter, settings, modelWindow, archive, originals, ahead, label, on, writer } = options;
  const { store, clock } = deps;
  const { id } = conversation.header;
  const { enabled, from, protectTokens, minGainTokens } = settings.prune;
  const policy = { protectTokens, minGainTokens, ...(from === null ? {} : { from }) };
  const { marks, prices, isKept } = cacheTerms(options.promptCache, options.prices);
  const cache = () => (isKept && !isCold(prompting.lastAt(), clock().getTime(), prices) ? "warm" : "cold");
  const table = draftTable(store.drafts, id, clock);
  const count = (text: string): number => Math.ceil(counter.count(text) * counter.prior);
  return createCompactor({
    conversation,
    prompt: prompting.prompt,
    window: () => modelWindow.window(),
    policy: settings.policy,
    prune: enabled ? () => ({ policy, prices, cache: cache(), marks: marks(conversation.head().reach) }) : null,
    writer: writer({ prompting, drafts: table, cache, count, window: () => modelWindow.window().size }),
    quotes: readQuotes(store, id),
    archive,
    originals,
    clock,
    on,
    background: drafting({ table, label, ahead: settings.drafts && store.drafts !== undefined ? ahead : "no" }),
  });
}

/** After a refusal: what the provider said it takes, in our own count. The modelWindow learns it, so that the next prompt is planned for it. */
function windowAfter(overflow: Overflow, modelWindow: ModelWindow, counted: number) {
  const { kind, limit } = overflow;
  if (kind === "tokens") modelWindow.learn(limit ?? counted, limit === null ? "guessed" : "stated");
  const { size: most, reserve } = modelWindow.window();
  const size = Math.min(fittingSize(overflow, { counted, size: most }), Math.floor(counted * SHRINK) + reserve);
  return { size, reserve: Math.min(reserve, size / 2) };
}

/** What was refused is sent again this much smaller at least. */
const SHRINK = 0.9;

/** Where the provider counted the same prompt differently, its limit is scaled to our count. */
function fittingSize({ kind, requested }: Overflow, { counted, size }: { counted: number; size: number }): number {
  if (kind === "bytes") return Math.floor(Math.min(size, counted) / 2);
  return Math.floor(requested !== null && requested > counted ? (size * counted) / requested : size);
}
