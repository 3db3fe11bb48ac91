/**
 * The desk where a run's requests are put together and weighed: system prompt, tools and the thread's view make a
 * request; one count of it drives the trigger, the plan and the usage records. Calls no model.
 */
import type { Window } from "@palimpsest/core/compaction";
import { RECALL } from "@palimpsest/core/internal/summary";
import type { ViewEntry } from "@palimpsest/core/log";
import { type AiSdkMessage, type RuleSet, repair, rulesOf, shapeOf } from "@palimpsest/core/message";
import { isCold, RELATIVE_PRICES } from "@palimpsest/core/pricing";
import type { Originals } from "@palimpsest/core/summary";
import type { Count, Meter } from "@palimpsest/core/tokens";
import type { ToolSet } from "ai";
import { type Compactor, createCompactor } from "../compaction/compactor.ts";
import { draftTable } from "../compaction/draft-table.ts";
import { ensureParts, homeOriginals } from "../compaction/part-files.ts";
import type { CachedPrefix } from "../compaction/summarize.ts";
import type { ModelCounter } from "../models/tokenizers.ts";
import { sentMessages } from "../threads/sent-messages.ts";
import type { RecordInput } from "../threads/writer.ts";
import { type BoundRequest, bindRequest } from "./bound-request.ts";
import { markedMessages } from "./cache-marks.ts";
import type { StepUsage } from "./events.ts";
import { type FixedSource, fixedDrafts, type ModelRequest, renderFixed, requestWith } from "./fixed-part.ts";
import { type Ledger, openLedger, type Settled } from "./ledger.ts";
import type { CompactionSetup } from "./middleware.ts";
import type { ModelObject, ModelSettings, WindowBook } from "./model.ts";
import { readMessages } from "./read-records.ts";
import type { Run } from "./run.ts";
import { summarizerLabel, type WriterPlace, writerFor } from "./summarizer.ts";

export type { ModelRequest } from "./fixed-part.ts";

export interface DeskOptions extends FixedSource {
  readonly model: ModelObject;
  readonly providerOptions: ModelSettings["providerOptions"];
  readonly counter: ModelCounter;
  readonly meter: Meter<AiSdkMessage>;
  readonly book: WindowBook;
  readonly compaction: CompactionSetup;
  /** Folder of the thread's part files; null without a workspace. */
  readonly history: string | null;
  /** `no`: a draft of this thread is under way already. */
  readonly ahead: "yes" | "no";
  /** What the thread's run before this one left in its ledger, if nothing was written since. */
  readonly before: Settled | null;
}

export interface Desk {
  settled(): Settled;
  readonly compactor: Compactor<AiSdkMessage>;
  readonly tools: ToolSet;
  window(): Window;
  count(): Count;
  /** Renders system prompt and tools anew. */
  refresh(): Promise<void>;
  /** What to write when system prompt or tools differ from what the thread last sent. */
  changes(): readonly RecordInput[];
  request(): ModelRequest;
  /** The last thing that happens to a request before it is sent. */
  bind(request: ModelRequest): BoundRequest;
  /** The usage record for the message at `of`, whose request was the last one made here. */
  report(usage: StepUsage, of: number): RecordInput;
}

const RULES = rulesOf("ai-sdk");
/** What a list that keeps all others needs to be sent. */
const LAST_RULE: RuleSet = { name: "request", rules: ["ends-with-request"] };
const SHAPE = shapeOf("ai-sdk");

export async function openDesk(run: Run, options: DeskOptions): Promise<Desk> {
  const { model, counter, meter, book, before } = options;
  const { conversation } = run;
  let part = await renderFixed(run, options);
  const fixed = (): number => meter.system(part.prompt.text) + meter.tools(part.schemas);
  const window = (): Window => book.window();
  const bind = (request: ModelRequest): BoundRequest => bindRequest(request, part, run);
  const ledger = await openLedger(run, {
    modelId: model.modelId,
    prior: counter.prior,
    meter,
    fixed,
    render,
    before,
    window: () => window().size,
  });
  return {
    settled: () => ({ account: ledger.account, lastAt: ledger.lastAt }),
    get tools() {
      return part.tools;
    },
    window,
    count: () => ledger.count(conversation.view()),
    compactor: createCompactor({
      conversation,
      meter,
      rules: RULES,
      fixed,
      window,
      count: ledger.count,
      ...effects(run, options, { ledger, request: () => bind(requestWith(part, render(conversation.view()))).request }),
      originals: () => originalsFor(part.tools, options.history),
    }),
    async refresh() {
      part = await renderFixed(run, options);
    },
    changes: () => fixedDrafts(run, part, meter),
    request() {
      ledger.send();
      return requestWith(part, repair(render(conversation.view()), SHAPE, LAST_RULE).messages);
    },
    bind,
    report(usage, of) {
      const record = ledger.report(usage, of, part.hash);
      if (record.flaw === null) book.accept(usage.input);
      return record;
    },
  };
}

function render(view: readonly ViewEntry<AiSdkMessage>[]): readonly AiSdkMessage[] {
  return sentMessages(view, SHAPE, RULES).messages;
}

interface Asked {
  readonly ledger: Ledger;
  /** What would be sent now. */
  readonly request: () => ModelRequest;
}

/** What a compactor needs beside the view and its weight. */
function effects(run: Run, options: DeskOptions, { ledger, request }: Asked) {
  const { deps, threadId, conversation } = run;
  const { compaction, history, model, providerOptions, book, ahead } = options;
  const { settings, summarizer } = compaction;
  const { enabled, from, protectTokens, minGainTokens } = settings.prune;
  const policy = { protectTokens, minGainTokens, ...(from === null ? {} : { from }) };
  const cache = () => (isCold(ledger.lastAt, deps.clock().getTime(), RELATIVE_PRICES) ? "cold" : "warm");
  const table = draftTable(deps.store.drafts, threadId, deps.clock);
  const { count, prior } = options.counter;
  const place: WriterPlace = {
    count: (text) => Math.ceil(count(text) * prior),
    settings,
    model,
    providerOptions,
    drafts: table,
    window: () => book.window().size,
    prefix: () =>
      cache() === "cold" ? null : prefixOf(request(), model.provider, ledger.count(conversation.view()).tokens),
  };
  return {
    writer: writerFor(summarizer, place),
    background: {
      table,
      ahead: settings.drafts && deps.store.drafts !== undefined ? ahead : "no",
      label: summarizerLabel(summarizer, place),
    },
    policy: settings.policy,
    prune: enabled ? () => ({ policy, cache: cache() }) as const : null,
    quotes: (seqs: readonly number[]) => readMessages(deps.store, threadId, seqs),
    archive: history === null ? null : () => ensureParts(history, deps.store, threadId, conversation.head().compaction),
    clock: deps.clock,
    on: run.emit,
  };
}

/** What the run's own tools can reach of the hidden messages: a middleware or a child's list may have left some out. */
function originalsFor(tools: ToolSet, history: string | null): Originals {
  const given = (name: string | null): string | null => (name !== null && name in tools ? name : null);
  const folder = history === null ? null : homeOriginals.folder;
  return { folder, finder: given(RECALL.finder), reader: given(RECALL.reader) };
}

/** What the provider has in its cache: the request up to the last answer, so that a question of ours may follow. */
function prefixOf(request: ModelRequest, provider: string, tokens: number): CachedPrefix | null {
  const { instructions, messages, tools } = request;
  const last = messages.findLastIndex(({ role }) => role !== "user");
  if (last < 0) return null;
  return { instructions, messages: markedMessages(messages.slice(0, last + 1), provider), tools, tokens };
}
