/**
 * The assistant that a home and its configuration describe: model, summaries, memory, approvals, files, log lines. The
 * command, the chat and the demo all start here. The middleware every assistant has is named in `create-deep-agent.ts`.
 */
import { basename, resolve } from "node:path";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { generateText } from "ai";
import type { Agent, AgentOptions } from "../agent/agent.ts";
import type { AgentEvent } from "../agent/events.ts";
import type { Summarizer } from "../agent/model.ts";
import type { Middleware } from "../agent/run.ts";
import type { CompactionEvent } from "../compaction/events.ts";
import { logLine, type Summarization, summarizationForThreads } from "../compaction/summarization.ts";
import type { McpToolsOptions } from "../features/mcp/middleware.ts";
import { type Memory, openStorage, wireMemory } from "../features/memory/create-memory.ts";
import { givenBlockTokens } from "../features/memory/repository.ts";
import { type EmitMemory, type MemoryEvent, memoryLogLine } from "../features/memory/storage.ts";
import type { Extract } from "../features/memory/updater.ts";
import { switchesIn } from "../features/skills/middleware.ts";
import { type SubagentEvent, subagentLogLines } from "../features/subagents/result.ts";
import { subagentsFromConfig, workspaceFor } from "../features/subagents/spec.ts";
import { usedBy } from "../features/workspace/inside.ts";
import type { Root } from "../features/workspace/workspace.ts";
import { configuredEmbedder } from "../models/configured-embedder.ts";
import { pricesOf, pricingOf, readUsage } from "../models/facts.ts";
import {
  givenModel,
  lightweightModel,
  lightweightModelId,
  type ResolvedModel,
  resolveModel,
} from "../models/resolve.ts";
import { windowsOf } from "../models/tokenizers.ts";
import { nearest } from "../nearest.ts";
import type { EmbeddingEvent } from "../recall/embedder.ts";
import type { Store } from "../stores/store.ts";
import { workspaceQuota } from "./config.ts";
import { embeddingLogLine, noteCharge, noteEmbedding, noteSummary } from "./cost.ts";
import { createDeepAgent, type DeepAgentOptions, type DeepFilesOptions } from "./create-deep-agent.ts";
import type { ConfigFile } from "./schema.ts";

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
  const servers = await mcpServers(config.mcp_servers, { approved, onWarning });
  const agent = createDeepAgent({
    model: model.language,
    store,
    window: model.window.tokens,
    bindsReasoning: model.bindsReasoning,
    prices: prices ?? undefined,
    ...(model.maxOutputTokens !== null && { maxOutputTokens: model.maxOutputTokens }),
    baseUrl: model.baseUrl ?? undefined,
    onEvent(event, threadId, userId) {
      if (event.type === "summary-usage")
        noteSummary(home, { user: userId, id: threadId }, { ...event, model: writer });
      if (event.type === "embedding-usage") noteEmbedding(home, event, threadId, userId);
      onEvent?.(event, threadId, userId);
    },
    ...(tools !== undefined && { tools }),
    limits: windowsOf(home, store.shared?.limits, () => new Date()),
    embedder: config.recall.embedder === null ? undefined : configuredEmbedder(config.recall.embedder),
    ...limitsOf(config),
    ...budgetOf(config, model),
    files: { ...filesOf(home, config, model), ...(await workspaceOf(options)) },
    subagents: subagentsFromConfig(config, model.name),
    ...(memory !== null && { memory: memory.middleware }),
    ...rulesOf(config, options.workspace ?? home),
    title: config.title.enabled ? { maxWords: config.title.max_words } : false,
    ...approvalOf(config, { ...options, middleware: [...middleware, ...(servers === null ? [] : [servers])] }),
    summarization: settings,
    summarizer,
    contextTools: config.summarization.context_tools ?? undefined,
  });
  return { agent, model, memory, disconnect: async () => servers?.close?.() };
}

/** Null if none is configured. The code that connects to servers is loaded only if there is one. */
async function mcpServers(servers: ConfigFile["mcp_servers"], options: McpToolsOptions): Promise<Middleware | null> {
  if (Object.keys(servers).length === 0) return null;
  const { mcpTools } = await import("../features/mcp/middleware.ts");
  return mcpTools(servers, options);
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
  const offline = config.models.every(({ provider }) => provider === "offline");
  if (!other && (isGiven || !offline)) return "agent";
  if (offline) return null;
  // Loaded with the first summary: most runs write none.
  return async (job, signal) => {
    const { modelWriter } = await import("../compaction/model-summarize.ts");
    return modelWriter(config, settings)(job, signal);
  };
}

/** Files are those of the workspace where the agent works in one, else of the home. */
function rulesOf({ rules: { agent, users, files } }: ConfigFile, directory: string): Pick<DeepAgentOptions, "rules"> {
  const paths = files.map((file) => resolve(directory, file));
  return { rules: { agent, user: (userId) => users[userId] ?? [], files: paths } };
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
  // What it writes must not become a rule.
  const protect = [...config.workspace.protected, ...config.rules.files.map((file) => basename(file))];
  const root: Root = { directory: workspace, access: "read-write", protect };
  const limit = workspaceQuota(config);
  const used = limit === null ? null : await usedBy({ roots: { workspace: root } });
  const quota =
    limit === null || used === null ? null : { bytes: used.bytes + limit.bytes, entries: used.entries + limit.entries };
  return {
    workspace({ thread }) {
      const { roots } = workspaceFor(home, thread.header);
      return { roots: { ...roots, workspace: root }, quota };
    },
  };
}

interface ConfiguredMemoryOptions {
  readonly home: string;
  readonly config: ConfigFile;
  readonly store: Store;
  readonly emit: EmitMemory;
  readonly learns?: "here" | "elsewhere";
}

/** Null where memory is turned off. */
async function configuredMemory(options: ConfiguredMemoryOptions): Promise<Memory | null> {
  const { home, config, store, emit } = options;
  const settings = config.memory;
  if (!settings.enabled) return null;
  const storage = await openStorage({
    base: home,
    storagePath: settings.storage_path,
    storageClass: settings.storage_class,
    store,
    onError: (reason) => emit({ type: "memory-failed", threadId: null, reason }),
  });
  return wireMemory({
    store,
    storage,
    extract: extractWith(config, home),
    onEvent: emit,
    debounceSeconds: settings.debounce_seconds,
    maxFacts: settings.max_facts,
    factConfidenceThreshold: settings.fact_confidence_threshold,
    injection: settings.injection_enabled ? "on" : "off",
    maxInjectionTokens: givenBlockTokens(settings.max_injection_tokens),
    evidenceTokens: settings.evidence_tokens,
    ...(options.learns === "elsewhere" && { starts: "by-hand" as const }),
  });
}

/** One request, without tools or retries: the queue tries again. */
function extractWith(config: ConfigFile, home: string): Extract {
  return async (prompt, signal, { userId: user, threadId: id }) => {
    const { language, provider, modelId: model } = await lightweightModel(config, config.memory.model_name);
    if (provider === "offline") return askDirectly(language, prompt, signal);
    const { text, usage } = await generateText({ model: language, prompt, abortSignal: signal, maxRetries: 0 });
    const report = readUsage(usage);
    if (report !== null) noteCharge(home, { user, id }, { use: "memory", model, calls: 1, ...report });
    return text;
  };
}

/** The SDK's call loads Node's whole network stack, which costs a short run a tenth of its time for nothing. */
async function askDirectly(model: LanguageModelV4, prompt: string, abortSignal: AbortSignal): Promise<string> {
  const asked = [{ role: "user" as const, content: [{ type: "text" as const, text: prompt }] }];
  const { content } = await model.doGenerate({ prompt: asked, abortSignal });
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

type ApprovalContext = Pick<ConfiguredAgentOptions, "approved" | "asked" | "onWarning" | "middleware">;

function approvalOf(
  { approval }: ConfigFile,
  { approved = new Set(), asked = [], onWarning = () => {}, middleware = [] }: ApprovalContext,
): Pick<AgentOptions, "toolApproval" | "middleware"> {
  const tools = [...approval.tools, ...asked];
  if (tools.length === 0) return { middleware };
  const statusOf = (name: string) => () => (approved.has(name) ? ("approved" as const) : ("user-approval" as const));
  return {
    toolApproval: Object.fromEntries(tools.map((name) => [name, statusOf(name)])),
    middleware: [...middleware, namesChecked(approval.tools, onWarning)],
  };
}

/** Which tools there are shows only in a run: some come with skills, or with what the model can do. */
function namesChecked(names: readonly string[], warn: (text: string) => void): Middleware {
  let checked = false;
  return {
    name: "approval-names",
    wrapModel(request, next) {
      const known = Object.keys(request.tools);
      for (const name of checked ? [] : names) {
        if (known.includes(name)) continue;
        const meant = nearest(name, known);
        const advice = meant === null ? `there are ${known.join(", ")}` : `did you mean ${meant}?`;
        warn(`approval.tools names ${JSON.stringify(name)}, which no tool is called: ${advice}`);
      }
      checked = true;
      return next(request);
    },
  };
}

/* Log lines about compaction, memory, the embedder and sub-agents, filtered by `log_level`. */

export type HomeEvent = AgentEvent | CompactionEvent | MemoryEvent | SubagentEvent;

export interface EventLogOptions {
  readonly line: (text: string) => void;
  readonly verbose: boolean;
}

export function eventLog(
  config: Pick<ConfigFile, "log_level">,
  { line, verbose }: EventLogOptions,
): (event: HomeEvent) => void {
  const setting = verbose ? "debug" : config.log_level;
  /** Only the debug log names the part of the program that speaks. */
  const named = (part: string, text: string) =>
    line(isLogged(setting, part, "debug") ? text : text.replace(/^\[\w+\] /, ""));
  return (event) => {
    if (isCompaction(event)) {
      const level = WARNINGS.has(event.type) ? "warn" : "debug";
      if (isLogged(setting, "summarization", level)) named("summarization", logLine(event));
    } else if (isMemory(event)) {
      const level = event.type === "memory-failed" ? "error" : "debug";
      if (isLogged(setting, "memory", level)) named("memory", memoryLogLine(event));
    } else if (isEmbedding(event)) {
      const level = event.type === "embedding-failed" ? "warn" : "debug";
      if (isLogged(setting, "recall", level)) line(embeddingLogLine(event));
    } else if (isSubagent(event) && isLogged(setting, "subagents", "debug")) subagentLogLines(event).forEach(line);
  };
}

const WARNINGS: ReadonlySet<string> = new Set(["summary-failed", "breaker-open"]);

function isCompaction(event: HomeEvent): event is CompactionEvent {
  return /^(?:compaction|summary|draft|breaker)-/.test(event.type);
}

function isMemory(event: HomeEvent): event is MemoryEvent {
  return event.type.startsWith("memory-");
}

function isEmbedding(event: HomeEvent): event is EmbeddingEvent {
  return event.type.startsWith("embedding-");
}

function isSubagent(event: HomeEvent): event is SubagentEvent {
  return event.type.startsWith("subagent-");
}

/** `log_level` is one level for all, or a map from a part (`summarization`, `memory`) to its level. */
const LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export type LogLevel = (typeof LEVELS)[number];

/** A map that doesn't name the part has a `default`, else it is `info`. */
export function isLogged(setting: ConfigFile["log_level"], part: string, level: Exclude<LogLevel, "silent">): boolean {
  const chosen = typeof setting === "string" ? setting : (setting[part] ?? setting["default"] ?? "info");
  return LEVELS.indexOf(level) >= LEVELS.indexOf(chosen);
}
