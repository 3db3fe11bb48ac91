/**
 * Puts a run's requests together: system prompt, tools and the thread's prompt make a request; the prompt's one count
 * drives the trigger, the plan and the usage records. Calls no model.
 */
import { fixedSize } from "@palimpsest/core/internal/prompt";
import { RECALL } from "@palimpsest/core/internal/summary";
import { type AiSdkMessage, rulesOf } from "@palimpsest/core/message";
import type { Originals } from "@palimpsest/core/summary";
import type { ToolSet } from "ai";
import { ensureParts, homeOriginals } from "../compaction/part-files.ts";
import type { CachedPrefix } from "../compaction/summarize.ts";
import type { OpenLog } from "../session/open-log.ts";
import type { OpenSizer } from "../session/prompting.ts";
import { openSession, type Session } from "../session/session.ts";
import { type BoundRequest, bindRequest, openingOf } from "./bound-request.ts";
import { cutMessages, markedMessages, needsMarks } from "./cache-marks.ts";
import {
  type FixedPart,
  type FixedSource,
  fixedChange,
  fixedSizes,
  type ModelRequest,
  renderFixed,
  requestWith,
} from "./fixed-part.ts";
import type { CompactionSetup } from "./middleware.ts";
import { parametersOf } from "./model.ts";
import type { ModelSetup } from "./model-setup.ts";
import type { Run } from "./run.ts";
import { summarizerLabel, writerFor } from "./summarizer.ts";

export type { ModelRequest } from "./fixed-part.ts";

export interface RequestOptions {
  readonly setup: FixedSource & { readonly compaction: CompactionSetup };
  readonly model: ModelSetup;
  /** Folder of the thread's part files; null without a workspace. */
  readonly history: string | null;
  /** `no`: a draft of this thread is under way already. */
  readonly ahead: "yes" | "no";
  /** What the thread's run before this one has counted with, whichever agent's it was. */
  readonly before: OpenSizer<AiSdkMessage> | null;
}

export interface RequestBuilder {
  /** The thread as the model that is asked sees it: its prompt, count, compactions and reports. */
  readonly session: Session<AiSdkMessage>;
  readonly tools: ToolSet;
  /** System prompt and tools as they are sent now, under the hash that names them in every record. */
  fixed(): FixedPart;
  /** Renders system prompt and tools anew. */
  refresh(): Promise<void>;
  /** Writes system prompt and tools where they differ from what the thread last sent. */
  record(): Promise<void>;
  request(): ModelRequest;
  /** The last thing that happens to a request before it is sent. */
  bind(request: ModelRequest): BoundRequest;
}

const RULES = rulesOf("ai-sdk");

export async function openRequests(
  run: Run,
  log: OpenLog<AiSdkMessage>,
  options: RequestOptions,
): Promise<RequestBuilder> {
  const { setup, history, before, ahead } = options;
  const { modelWindow, model: agentModel } = options.model;
  const { languageModel: model, providerOptions } = agentModel.settings;
  const { settings, summarizer } = setup.compaction;
  const { counter, meter } = await options.model.counting();
  const { deps, conversation, threadId } = run;
  let part = await renderFixed(run, setup);
  const fixed = () => fixedSize(fixedSizes(part, meter), part.hash);
  const opening = () => (run.bindsReasoning ? openingOf(part, deps.hash) : null);
  let last: BoundRequest | null = null;
  const session = await openSession(log, {
    deps,
    rules: RULES,
    counter,
    meter,
    modelWindow,
    before,
    ahead,
    fixed: fixed(),
    opening: opening(),
    model: model.modelId,
    prices: agentModel.prices,
    promptCache: needsMarks(model.provider) ? "marks" : "prefix",
    settings,
    writer: ({ prompting, cache, ...place }) => {
      const prefix = (): CachedPrefix | null => {
        if (cache() === "cold") return null;
        const { messages, count } = prompting.prompt();
        return prefixOf(requestWith(part, messages), model.provider, count.tokens);
      };
      return writerFor(summarizer, { ...place, settings, model, providerOptions, prefix });
    },
    label: summarizerLabel(summarizer, { settings, model }),
    archive: history === null ? null : () => ensureParts(history, deps.store, threadId, conversation.head().compaction),
    originals: () => originalsFor(part.tools, history),
    on: run.emit,
  });
  return {
    session,
    bind: (request) => (request === last?.request ? last : bindRequest(request, part, run)),
    fixed: () => part,
    get tools() {
      return part.tools;
    },
    async refresh() {
      part = await renderFixed(run, setup);
      session.fix(fixed(), opening());
    },
    async record() {
      const change = { parts: session.fixed().parts, parameters: parametersOf(agentModel) };
      const { inputs, prompts } = fixedChange(run, part, change);
      if (inputs.length > 0) await run.commit(inputs, { prompts });
    },
    request() {
      const { messages, prefix } = session.ask();
      const cuts = cutMessages(conversation);
      last = { request: { ...requestWith(part, messages), ...(cuts.length > 0 && { cuts }) }, prefix };
      return last.request;
    },
  };
}

/** What the run's own tools can reach of the hidden messages: a middleware or a child's list may have left some out. */
function originalsFor(tools: ToolSet, history: string | null): Originals {
  const ifThere = (name: string | null): string | null => (name !== null && name in tools ? name : null);
  const folder = history === null ? null : homeOriginals.folder;
  return { folder, finder: ifThere(RECALL.finder), reader: ifThere(RECALL.reader) };
}

/** What the provider has in its cache: the request up to the last answer, so that a question of ours may follow. */
function prefixOf(request: ModelRequest, provider: string, tokens: number): CachedPrefix | null {
  const { instructions, messages, tools } = request;
  const last = messages.findLastIndex(({ role }) => role !== "user");
  if (last < 0) return null;
  return { instructions, messages: markedMessages(messages.slice(0, last + 1), provider), tools, tokens };
}
