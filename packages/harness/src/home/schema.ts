/**
 * The configuration file: every key, its default and what it may hold, in one place. snake_case as users write it;
 * `config.ts` turns it into what the code takes. The JSON Schema that `config schema` prints is derived from this.
 */
import { z } from "zod/v4";
import { DEFAULT_KEEP } from "../compaction/summarization.ts";
import { gatewaySchema } from "./gateway-schema.ts";

export const CONFIG_VERSION = 1;

const positive = z.number().positive();
const wholeAboveZero = z.int().positive();
const share = z.number().gt(0).max(1);
const envString = z.string().min(1);

const threshold = z
  .strictObject({
    type: z
      .enum(["fraction", "tokens", "messages"])
      .describe("What is counted; a fraction is of the model's input window."),
    value: positive,
  })
  .superRefine(({ type, value }, context) => {
    if (type === "fraction" && value > 1) {
      context.addIssue({ code: "custom", path: ["value"], message: "a fraction is a share of the window: at most 1" });
    }
    if (type !== "fraction" && !Number.isInteger(value)) {
      context.addIssue({ code: "custom", path: ["value"], message: `${type} must be a whole number` });
    }
  });

const thresholds = z.union([threshold, z.array(threshold).min(1)]);

const NO_TRIGGER = `needs at least one trigger when it is enabled, for example:
summarization:
  enabled: true
  trigger:
    type: tokens
    value: 4000
  keep:
    type: messages
    value: 20`;

const summarizationSchema = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Compact automatically."),
    model_name: z
      .string()
      .nullable()
      .default(null)
      .describe("A name from models; null: the lightweight one, else the default with thinking off."),
    trigger: thresholds
      .optional()
      .describe(
        "Any threshold reached (>=) starts a compaction: tokens and messages of the conversation, a fraction of the window for the whole request.",
      ),
    keep: thresholds
      .default(DEFAULT_KEEP)
      .describe("One: at least this much stays. A list: at most the smallest of its entries stays."),
    trim_tokens_to_summarize: wholeAboveZero
      .nullable()
      .default(4000)
      .describe("Most tokens of messages in one summarizer call; null: the summarizer's window."),
    summary_prompt: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe("Your own prompt, with or without {messages}; gives a prose summary."),
    summary_format: z
      .enum(["pair", "user", "system"])
      .default("pair")
      .describe("How the summary stands in the prompt."),
    policy: z
      .enum(["summary", "rollover"])
      .default("summary")
      .describe("rollover: at the trigger a fresh window with rules, notes, typed state and the last request."),
    context_tools: z
      .boolean()
      .nullable()
      .default(null)
      .describe(
        "Give the agent notes, new_context, context_remaining, checkpoint and fold; null: with policy rollover.",
      ),
    reserved_output_tokens: wholeAboveZero
      .default(4096)
      .describe("Room for the summary's own generation in the summarizer's window."),
    fallback_context_window: wholeAboveZero.default(32768).describe("The window of a model that doesn't state one."),
    max_summary_tokens: wholeAboveZero.nullable().default(null).describe("Null: a tenth of the window, at most 4000."),
    low_water: share
      .nullable()
      .default(null)
      .describe(
        "A compaction aims at this share of what the trigger leaves to the conversation. Null: 0.6; without `keep` 0.54 from 32000 tokens on.",
      ),
    min_gain: z
      .number()
      .min(0)
      .lt(1)
      .default(0.1)
      .describe("Share of the trigger, in its own unit, that must be said before the next attempt."),
    max_summarizer_calls: wholeAboveZero.default(8).describe("Over this, tool outputs are read as digests."),
    drafts: z.boolean().default(true).describe("Write the next summary ahead of its trigger, so that nobody waits."),
    prune: z
      .strictObject({
        enabled: z.boolean().default(true).describe("Below the trigger, do what prices ask for."),
        from: wholeAboveZero
          .nullable()
          .default(null)
          .describe("Tokens in the view before prices are asked; null: 30000."),
        protect_tokens: z.int().min(0).default(8_000).describe("The newest tokens are never pruned."),
        min_gain_tokens: z
          .int()
          .min(0)
          .default(5_000)
          .describe("A pass that frees less is not worth breaking the prompt cache."),
      })
      .prefault({}),
  })
  .superRefine((summarization, context) => {
    if (summarization.enabled && summarization.trigger === undefined) {
      context.addIssue({ code: "custom", path: [], message: NO_TRIGGER });
    }
  });

const memorySchema = z.strictObject({
  enabled: z.boolean().default(true).describe("Learn from conversations and remember."),
  injection_enabled: z.boolean().default(true).describe("Put what is remembered into the prompt."),
  storage_path: z.string().min(1).default("memory.json").describe("Absolute as is, relative under the base directory."),
  storage_class: z.string().min(1).default("file").describe("file, sqlite, postgres or ./module.js#Export."),
  debounce_seconds: z.number().min(0).default(30).describe("Quiet time before a conversation is read for facts."),
  model_name: z.string().nullable().default(null).describe("A name from models; null: as for summarization."),
  max_facts: wholeAboveZero.default(100),
  fact_confidence_threshold: z.number().min(0).max(1).default(0.7).describe("Facts at or above it are stored."),
  max_injection_tokens: z.int().min(0).default(2000).describe("Most tokens of the <memory> block."),
  evidence_tokens: z.int().min(0).default(1000).describe("Most tokens of facts and past turns added to one question."),
  tool: z.boolean().default(false).describe("Give the agent the memory tool: files of its own under /memories."),
});

const agentSchema = z.strictObject({
  description: z.string().min(1).optional().describe("What the main agent chooses by; a built-in agent has its own."),
  system_prompt: z.string().min(1).optional(),
  tools: z.array(z.string()).nullable().default(null).describe("Null: the parent's, without task."),
  disallowed_tools: z.array(z.string()).default([]),
  skills: z.array(z.string()).nullable().default(null),
  model: z.string().nullable().default(null),
  thinking_enabled: z.boolean().default(false),
  max_turns: wholeAboveZero.optional(),
  timeout_seconds: positive.optional(),
  token_budget: wholeAboveZero.optional(),
});

/** Their limits may be set alone. */
const BUILT_IN_AGENTS = ["general-purpose", "bash"];

const subagentsSchema = z.strictObject({
  max_turns: wholeAboveZero.default(20).describe("Model calls of one sub-agent."),
  max_concurrent: wholeAboveZero
    .default(3)
    .describe("Sub-agents running at once in this process; the rest wait in order."),
  max_per_run: wholeAboveZero.default(50),
  timeout_seconds: positive.default(900),
  token_budget: wholeAboveZero.default(500_000),
  result_tokens: wholeAboveZero.default(2000).describe("Most tokens one sub-agent adds to its parent."),
  retention_days: positive.default(30),
  agents: z
    .record(z.string(), agentSchema)
    .superRefine((agents, context) => {
      for (const [name, { description }] of Object.entries(agents))
        if (description === undefined && !BUILT_IN_AGENTS.includes(name))
          context.addIssue({ code: "custom", path: [name, "description"], message: "is missing: what is it for?" });
    })
    .default({}),
});

const modelSchema = z.strictObject({
  name: z.string().min(1).describe("What the rest of this file calls it."),
  provider: z.enum(["openai", "anthropic", "google", "openai-compatible", "offline"]),
  model: z.string().min(1).describe("The provider's id for it."),
  api_key: envString.optional().describe("$NAME takes it from the environment."),
  base_url: z.string().min(1).optional(),
  max_input_tokens: wholeAboveZero.optional().describe("The input window."),
  max_output_tokens: wholeAboveZero.optional(),
  lightweight: z.boolean().default(false).describe("Use it for summaries and memory."),
  supports_vision: z.boolean().default(false),
  thinking: z.boolean().default(false),
  binds_reasoning: z
    .boolean()
    .optional()
    .describe("It refuses its own thoughts once the prompt before them changed; by default told by the model's name."),
  pricing: z
    .strictObject({
      input: z.number().min(0),
      output: z.number().min(0),
      cache_read: z.number().min(0).optional(),
      cache_write: z.number().min(0).optional(),
    })
    .optional()
    .describe("US dollars per million tokens."),
});

const recallSchema = z.strictObject({
  embedder: z
    .strictObject({
      provider: z.enum(["openai", "google", "openai-compatible"]),
      model: z.string().min(1).describe("The provider's id for it."),
      api_key: envString.optional().describe("$NAME takes it from the environment."),
      base_url: z.string().min(1).optional(),
      pricing: z
        .strictObject({ input: z.number().min(0) })
        .optional()
        .describe("US dollars per million tokens."),
    })
    .nullable()
    .default(null)
    .describe("An embedding model that compares what words found by meaning as well; null: words alone."),
});

const toolOutputSchema = z.strictObject({
  max_tokens: wholeAboveZero.default(4000).describe("A longer result goes to a file; the model gets a preview."),
  per_tool: z.record(z.string(), wholeAboveZero).default({}),
  exempt: z
    .array(z.string())
    .nullable()
    .default(null)
    .describe("Tools whose results stay as they are; null: those that say that they bound their own."),
});

const limitsSchema = z.strictObject({
  model_first_seconds: positive.nullable().default(300).describe("Until a model says its first piece; null: no limit."),
  model_idle_seconds: positive.nullable().default(120).describe("From one piece of an answer to the next."),
  answer_characters: wholeAboveZero.default(4_000_000).describe("Most of one answer; the rest is cut off."),
  workspace_megabytes: positive.default(1024).describe("Most that a thread's files may take."),
  workspace_files: wholeAboveZero.default(20_000).describe("Most files and folders of a thread."),
  tool_seconds: positive.nullable().default(600).describe("A tool that takes longer is left alone; null: no limit."),
  run_tokens: wholeAboveZero
    .nullable()
    .default(null)
    .describe("Most tokens that one run may use, with its summaries and sub-agents; null: no limit."),
  run_cost: positive.nullable().default(null).describe("Most that one run may cost, in US dollars; null: no limit."),
});

const approvalSchema = z.strictObject({
  tools: z
    .array(z.string().min(1))
    .default([])
    .describe("Names of tools that a person is asked about before each call."),
});

const mcpServerCommon = {
  enabled: z.boolean().default(true),
  tools: z.array(z.string().min(1)).nullable().default(null).describe("Only these of its tools; null: all."),
  approval: z
    .enum(["all", "writes", "none"])
    .default("writes")
    .describe("Which calls a person is asked about; writes: of every tool that doesn't say that it only reads."),
  timeout_seconds: positive.default(60).describe("For connecting, and from one sign of life of a call to the next."),
};

const mcpServerSchema = z.union([
  z.strictObject({
    command: z.string().min(1).describe("A program that speaks the protocol on its stdin and stdout."),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}).describe("Beside the few variables that are safe to inherit."),
    ...mcpServerCommon,
  }),
  z.strictObject({
    url: z.url({ protocol: /^https?$/ }).describe("A server that is reached over HTTP."),
    headers: z.record(z.string(), envString).default({}),
    ...mcpServerCommon,
  }),
]);

/** What programs of a person run because it is there. */
const PROTECTED_NAMES = [
  ".git",
  ".palimpsest",
  ".envrc",
  ".husky",
  ".vscode",
  ".idea",
  ".devcontainer",
  ".claude",
  ".cursor",
  ".mcp.json",
];

const ruleText = z.string().min(1).max(500);

const levels = ["debug", "info", "warn", "error", "silent"] as const;

export const configSchema = z.strictObject({
  config_version: z.coerce.number().int().positive().default(CONFIG_VERSION),
  log_level: z.union([z.enum(levels), z.record(z.string(), z.enum(levels))]).default("info"),
  models: z.array(modelSchema).default([]).describe("The first is the default; none: the offline model."),
  summarization: summarizationSchema
    .default(() => ({ ...summarizationSchema.parse({}), enabled: true }))
    .describe(
      "Left out, or without `enabled` and `trigger`: on, as agents have it by default. A trigger without `enabled`: off.",
    ),
  memory: memorySchema.prefault({}),
  recall: recallSchema.prefault({}).describe("Search over what was ever said."),
  subagents: subagentsSchema.prefault({}),
  approval: approvalSchema.prefault({}),
  tool_output: toolOutputSchema.prefault({}),
  skills: z.strictObject({ path: z.string().min(1).default("skills") }).prefault({}),
  rules: z
    .strictObject({
      agent: z.array(ruleText).default([]).describe("Standing rules of every thread."),
      users: z.record(z.string(), z.array(ruleText)).default({}).describe("Those of each user, by name."),
      files: z
        .array(z.string().min(1))
        .default([])
        .describe("Files whose standing instructions are rules, such as AGENTS.md."),
    })
    .prefault({})
    .describe("Standing rules that hold in all threads; they are copied into a thread's log when a run starts."),
  title: z.strictObject({ enabled: z.boolean().default(true), max_words: wholeAboveZero.default(6) }).prefault({}),
  workspace: z
    .strictObject({
      host_bash: z.boolean().default(false).describe("Run bash on this machine instead of the sandbox."),
      protected: z
        .array(z.string().regex(/^[^/\\]+$/, "is a name, without a folder"))
        .default(PROTECTED_NAMES)
        .describe("With --workspace: files and folders of these names are read-only for the agent, at any depth."),
    })
    .prefault({}),
  mcp_servers: z
    .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, "must be letters, digits, - and _"), mcpServerSchema)
    .default({})
    .describe("Servers of the Model Context Protocol whose tools the agent gets, by the name they have here."),
  limits: limitsSchema.prefault({}),
  store: z
    .strictObject({
      url: z
        .string()
        .min(1)
        .nullable()
        .default(null)
        .describe("postgres://... or a path; null: palimpsest.db in the home."),
      listen_url: z
        .string()
        .min(1)
        .nullable()
        .default(null)
        .describe(
          "PostgreSQL's own address, past any pooler, for wake-ups between gateways; null: they look again and again.",
        ),
    })
    .prefault({}),
  gateway: gatewaySchema.prefault({}).describe("What `palimpsest serve` does."),
});

export type ConfigFile = z.output<typeof configSchema>;
export type SummarizationFile = ConfigFile["summarization"];
