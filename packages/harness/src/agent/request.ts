/**
 * Puts a run's requests together: system prompt, tools and the thread's prompt make a request; the prompt's one count
 * drives the trigger, the plan and the usage records. Calls no model.
 */
import type { Window } from "@palimpsest/core/compaction";
import { sent } from "@palimpsest/core/internal/log";
import { fixedSize } from "@palimpsest/core/internal/prompt";
import { RECALL } from "@palimpsest/core/internal/summary";
import type { ViewEntry } from "@palimpsest/core/log";
import { type AiSdkMessage, repair, rulesOf, shapeOf } from "@palimpsest/core/message";
import type { Prompt } from "@palimpsest/core/prompt";
import type { Originals } from "@palimpsest/core/summary";
import type { Meter } from "@palimpsest/core/tokens";
import type { ToolSet } from "ai";
import { type Compactor, createCompactor } from "../compaction/compactor.ts";
import { ensureParts, homeOriginals } from "../compaction/part-files.ts";
import type { CachedPrefix } from "../compaction/summarize.ts";
import type { ModelCounter } from "../models/tokenizers.ts";
import { compactionParts } from "../session/compaction-parts.ts";
import { endingWithRequest } from "../session/ends-with-request.ts";
import type { OpenSizer } from "../session/open-sizer.ts";
import { openPrompting } from "../session/prompting.ts";
import type { WindowBook } from "../session/window-book.ts";
import type { RecordInput } from "../threads/writer.ts";
import { type BoundRequest, bindRequest } from "./bound-request.ts";
import { markedMessages } from "./cache-marks.ts";
import type { StepUsage } from "./events.ts";
import {
  type FixedChange,
  type FixedPart,
  type FixedSource,
  fixedChange,
  fixedSizes,
  type ModelRequest,
  renderFixed,
  requestWith,
} from "./fixed-part.ts";
import type { RequestParameters } from "./kept-request.ts";
import type { CompactionSetup } from "./middleware.ts";
import type { ModelObject, ModelSettings } from "./model.ts";
import type { Run } from "./run.ts";
import { summarizerLabel, type WriterPlace, writerFor } from "./summarizer.ts";

export type { ModelRequest } from "./fixed-part.ts";

export interface RequestOptions extends FixedSource {
  readonly parameters: RequestParameters;
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
  /** What the thread's run before this one has counted with, if nothing was written since. */
  readonly before: OpenSizer<AiSdkMessage> | null;
}

export interface RequestBuilder {
  readonly compactor: Compactor<AiSdkMessage>;
  readonly tools: ToolSet;
  window(): Window;
  /** What would be sent now, before anything hooks into it. */
  prompt(): Prompt<AiSdkMessage>;
  /** System prompt and tools as they are sent now, under the hash that names them in every record. */
  fixed(): FixedPart;
  /** Renders system prompt and tools anew. */
  refresh(): Promise<void>;
  /** What to write when system prompt or tools differ from what the thread last sent. */
  changes(): FixedChange;
  request(): ModelRequest;
  /** The last thing that happens to a request before it is sent. */
  bind(request: ModelRequest): BoundRequest;
  /** The usage record for the message at `of`, whose request was the last one made here. */
  report(usage: StepUsage, of: number): RecordInput;
  /** For the thread's next run. */
  opened(): OpenSizer<AiSdkMessage>;
}

const RULES = rulesOf("ai-sdk");
const SHAPE = shapeOf("ai-sdk");

export async function openRequests(run: Run, options: RequestOptions): Promise<RequestBuilder> {
  const { model, counter, meter, book } = options;
  const { conversation, deps } = run;
  let part = await renderFixed(run, options);
  const fixed = () => fixedSize(fixedSizes(part, meter), part.hash);
  const prompting = await openPrompting(
    { store: deps.store, conversation },
    {
      shape: conversation.shape,
      rules: RULES,
      meter,
      fixed: fixed(),
      model: model.modelId,
      prior: counter.prior,
      book,
      clock: deps.clock,
      before: options.before,
    },
  );
  const { prompt } = prompting;
  const bind = (request: ModelRequest): BoundRequest => bindRequest(request, part, run);
  const now: Now = {
    prompt,
    lastAt: prompting.lastAt,
    request: () => bind(requestWith(part, prompt().messages)).request,
  };
  return {
    prompt,
    bind,
    fixed: () => part,
    get tools() {
      return part.tools;
    },
    window: () => book.window(),
    compactor: createCompactor({
      conversation,
      prompt,
      window: () => book.window(),
      ...effects(run, options, now),
      originals: () => originalsFor(part.tools, options.history),
    }),
    async refresh() {
      part = await renderFixed(run, options);
      prompting.fix(fixed());
    },
    changes: () => fixedChange(run, part, { parts: prompting.fixed().parts, parameters: options.parameters }),
    request: () => requestWith(part, endingWithRequest(prompting.ask().prompt.messages, SHAPE)),
    report: prompting.report,
    opened: prompting.opened,
  };
}

/** The messages of a view as a request sends them. */
export function sentMessages(view: readonly ViewEntry<AiSdkMessage>[]): readonly AiSdkMessage[] {
  const messages = view.map((entry) => sent(entry, SHAPE));
  return endingWithRequest(repair(messages, SHAPE, RULES).messages, SHAPE);
}

/** Where a run stands when a compaction asks. */
interface Now {
  readonly prompt: () => Prompt<AiSdkMessage>;
  /** When the provider was asked last. */
  readonly lastAt: () => number | null;
  /** What would be sent. */
  readonly request: () => ModelRequest;
}

/** What a compactor needs beside the prompt. */
function effects(run: Run, options: RequestOptions, now: Now) {
  const { deps, threadId, conversation } = run;
  const { compaction, history, model, providerOptions, book, ahead } = options;
  const { settings, summarizer } = compaction;
  const { cache, table, ...parts } = compactionParts({
    deps,
    threadId,
    settings,
    ahead,
    lastAt: now.lastAt,
    label: summarizerLabel(summarizer, { settings, model }),
  });
  const { count, prior } = options.counter;
  const place: WriterPlace = {
    count: (text) => Math.ceil(count(text) * prior),
    settings,
    model,
    providerOptions,
    drafts: table,
    window: () => book.window().size,
    prefix: () => (cache() === "cold" ? null : prefixOf(now.request(), model.provider, now.prompt().count.tokens)),
  };
  return {
    ...parts,
    writer: writerFor(summarizer, place),
    archive: history === null ? null : () => ensureParts(history, deps.store, threadId, conversation.head().compaction),
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
