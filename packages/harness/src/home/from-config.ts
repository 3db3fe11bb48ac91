/**
 * The assistant that a home and its configuration describe: which model, which summaries, which files. The command line,
 * the chat and the demo all start here, so that a thread gets the same agent from each of them. The middleware every
 * assistant has is named in `create-deep-agent.ts`; here is only what a configuration decides.
 */
import { resolve } from "node:path";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Agent, AgentOptions } from "../agent/create-agent.ts";
import type { Summarizer } from "../agent/summarizer.ts";
import { configuredWriter } from "../compaction/configured-writer.ts";
import { type Summarization, summarizationForThreads } from "../compaction/summarization.ts";
import { mcpTools } from "../mcp/middleware.ts";
import type { Memory } from "../memory/create-memory.ts";
import type { EmitMemory } from "../memory/events.ts";
import { pricingOf } from "../models/cache-prices.ts";
import { pricesOf } from "../models/cost.ts";
import { givenModel, lightweightModelId, type ResolvedModel, resolveModel } from "../models/resolve-model.ts";
import { switchesIn } from "../skills/switched-off.ts";
import type { Store } from "../stores/store.ts";
import { subagentsFromConfig } from "../subagents/from-config.ts";
import { workspaceFor } from "../subagents/shared-workspace.ts";
import { usedBy } from "../workspace/quota.ts";
import type { Root } from "../workspace/workspace.ts";
import { approvalOf } from "./approval.ts";
import { noteSummary } from "./charges.ts";
import { configuredEmbedding, noteEmbedding } from "./configured-embedding.ts";
import { configuredMemory } from "./configured-memory.ts";
import { createDeepAgent } from "./create-deep-agent.ts";
import type { DeepFilesOptions } from "./deep-files.ts";
import type { ConfigFile } from "./schema.ts";
import { windowsOf } from "./shared-windows.ts";
import { workspaceQuota } from "./workspace-quota.ts";

export interface ConfiguredAgentOptions extends Pick<AgentOptions, "onEvent" | "tools" | "middleware"> {
  /** Where the threads' files are kept. */
  readonly home: string;
  readonly config: ConfigFile;
  readonly store: Store;
  /** A name from `models:`, or a model of the AI SDK; without it the first one, else the offline model. */
  readonly model?: string | LanguageModelV4 | null;
  /** The model's window in tokens, as if it were so large; for trying out a small one. */
  readonly window?: number | undefined;
  /** A person's own directory that agents work in instead of the thread's; the caller has asked the person. */
  readonly workspace?: string | null;
  /** Tools that a person allows from now on, whatever `approval.tools` says; it may grow while the agent is used. */
  readonly approved?: ReadonlySet<string>;
  /** Tools that a person is asked about beside those of `approval.tools`. */
  readonly asked?: readonly string[];
  /** What is doubtful in the configuration and shows only in a run. */
  readonly onWarning?: (text: string) => void;
  /** What memory does behind the runs. */
  readonly onMemory?: EmitMemory;
  /** `elsewhere`: what is to be learned is queued here and learned by another process. */
  readonly learns?: "here" | "elsewhere";
}

export interface ConfiguredAgent {
  readonly agent: Agent;
  readonly model: ResolvedModel;
  /** Null where it is turned off. To be closed with the agent, so that the last turns are learned. */
  readonly memory: Memory | null;
  /** Ends what it runs beside itself: the servers of `mcp_servers`. They start again when they are needed. */
  disconnect(): Promise<void>;
}

export async function createAgentFromConfig(options: ConfiguredAgentOptions): Promise<ConfiguredAgent> {
  const { home, config, store, onEvent, tools } = options;
  const { model: wanted = null } = options;
  const isGiven = typeof wanted === "object" && wanted !== null;
  const resolved = isGiven ? givenModel(wanted, config) : await resolveModel(config, wanted);
  const model = withWindow(resolved, options.window);
  const prices = pricingOf(model);
  const settings = summarizationForThreads(config.summarization);
  const memory = await configuredMemory({
    home,
    config,
    store,
    emit: options.onMemory ?? (() => {}),
    learns: options.learns ?? "here",
  });
  const summarizer = summarizerOf(config, settings, isGiven);
  const writer = summarizer === "agent" ? model.modelId : lightweightModelId(config, settings.modelName);
  const { approved, onWarning = () => {}, middleware = [] } = options;
  const servers = mcpTools(config.mcp_servers, { ...(approved !== undefined && { approved }), onWarning });
  const { embedder } = configuredEmbedding(home, config);
  const agent = createDeepAgent({
    model: model.language,
    store,
    contextWindow: model.window.tokens,
    bindsReasoning: model.bindsReasoning,
    ...(prices !== null && { prices }),
    ...(model.maxOutputTokens !== null && { maxOutputTokens: model.maxOutputTokens }),
    ...(model.baseUrl !== null && { baseUrl: model.baseUrl }),
    onEvent(event, threadId, userId) {
      if (event.type === "summary-usage")
        noteSummary(home, { user: userId, id: threadId }, { ...event, model: writer });
      if (event.type === "embedding-usage") noteEmbedding(home, event, threadId, userId);
      onEvent?.(event, threadId, userId);
    },
    ...(tools !== undefined && { tools }),
    limits: windowsOf(home, store.shared?.limits, () => new Date()),
    ...(embedder !== undefined && { embedder }),
    ...limitsOf(config),
    ...budgetOf(config, model),
    files: { ...filesOf(home, config, model), ...(await workspaceOf(options)) },
    subagents: subagentsFromConfig(config, model.name),
    ...(memory !== null && { memory: memory.middleware }),
    title: config.title.enabled ? { maxWords: config.title.max_words } : null,
    ...approvalOf(config, { ...options, middleware: [...middleware, ...(servers === null ? [] : [servers])] }),
    summarization: settings,
    summarizer,
  });
  return { agent, model, memory, disconnect: async () => servers?.close?.() };
}

function withWindow(model: ResolvedModel, tokens: number | undefined): ResolvedModel {
  return tokens === undefined ? model : { ...model, window: { tokens, source: "config" } };
}

function limitsOf({ limits }: ConfigFile): Pick<AgentOptions, "modelLimits" | "toolTimeoutMs"> {
  const ms = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000);
  return {
    modelLimits: {
      firstMs: ms(limits.model_first_seconds),
      idleMs: ms(limits.model_idle_seconds),
      answerChars: limits.answer_characters,
    },
    toolTimeoutMs: ms(limits.tool_seconds),
  };
}

function budgetOf({ limits, models }: ConfigFile, { name }: ResolvedModel): Pick<AgentOptions, "budget"> {
  const { run_tokens: tokens, run_cost: cost } = limits;
  if (tokens === null && cost === null) return {};
  const entry = models.find((one) => one.name === name);
  const prices = entry === undefined ? null : pricesOf(entry);
  return {
    budget: {
      ...(tokens !== null && { tokens }),
      ...(cost !== null && { cost }),
      ...(prices !== null && { prices }),
    },
  };
}

/** With one model for everything, its own cache makes summaries cheap; another one reads the messages by itself. */
function summarizerOf(config: ConfigFile, settings: Summarization, isGiven: boolean): Summarizer {
  const other = settings.modelName !== null || config.models.some(({ lightweight }) => lightweight);
  const offline = !isGiven && config.models.every(({ provider }) => provider === "offline");
  return other || offline ? configuredWriter(config, settings) : "agent";
}

function filesOf(home: string, config: ConfigFile, model: ResolvedModel): DeepFilesOptions {
  const { max_tokens: maxTokens, per_tool: perTool, exempt } = config.tool_output;
  return {
    base: home,
    bash: config.workspace.host_bash ? "host" : "sandbox",
    quota: workspaceQuota(config),
    vision: model.supportsVision,
    toolOutput: { maxTokens, perTool, exempt },
    skills: { directory: resolve(home, config.skills.path), switches: switchesIn(home) },
    memories: config.memory.tool,
  };
}

/** The directory may be large already: the quota is what may be added to it. */
async function workspaceOf({ home, config, workspace }: ConfiguredAgentOptions): Promise<Partial<DeepFilesOptions>> {
  if (workspace == null) return {};
  const root: Root = { directory: workspace, access: "read-write", protect: config.workspace.protected };
  const limit = workspaceQuota(config);
  const used = limit === null ? null : await usedBy({ roots: { workspace: root } });
  const quota =
    limit === null || used === null ? null : { bytes: used.bytes + limit.bytes, entries: used.entries + limit.entries };
  return {
    workspace({ conversation }) {
      const { roots } = workspaceFor(home, conversation.header);
      return { roots: { ...roots, workspace: root }, quota };
    },
  };
}
