/**
 * Opens a thread for any loop: whatever provider, SDK or framework asks the model, the log, the prompt, its count and its
 * compactions are the same as an agent's. Needs no model; summaries are extracted unless somebody writes them.
 */
import type { CompactionOutcome } from "@palimpsest/core/internal/compaction";
import {
  checkThreadId,
  checkUser,
  copyRules,
  type MessageSource,
  type RulesByScope,
  readRules,
} from "@palimpsest/core/internal/log";
import { DIALECTS, isDialect, type RuleSet, type Shape, withToolFacts } from "@palimpsest/core/internal/message";
import type { Count } from "@palimpsest/core/internal/tokens";
import type { CompactRequest } from "../compaction/compactor.ts";
import type { ThreadEvent } from "../compaction/events.ts";
import { type SummarizationOptions, summarizationFromOptions } from "../compaction/summarization.ts";
import type { SummaryWriter } from "../compaction/summarize.ts";
import type { GivenPrices, Usage } from "../models/facts.ts";
import type { GivenCounter, LimitsStore } from "../models/tokenizers.ts";
import { asUser } from "../stores/driver-rules.ts";
import type { AppendBatch, HeldLease, Lease, Store } from "../stores/store.ts";
import { takeUpRules } from "./acts.ts";
import { modelOf, type UsageInput } from "./asked-model.ts";
import type { FixedRequest } from "./fixed-request.ts";
import { type ThreadActs, threadActs } from "./handle.ts";
import type { GivenMessage } from "./log.ts";
import { openStoredThread } from "./thread.ts";
import { checkedWindow, type PromptCache } from "./window.ts";
import { createThread, type RecordInput, type ThreadDeps, threadDeps, type Writer } from "./writer.ts";

export interface OpenThreadOptions<M extends object> {
  readonly store: Store;
  readonly id: string;
  /** Whose thread it is: two users may both have one of this name. By default the store's user. */
  readonly userId?: string | undefined;
  /** For a thread that is made now. */
  readonly agentName?: string | undefined;
  /** Whose messages they are: `shapeOf("openai")`. Messages of other dialects in the log are converted. */
  readonly shape: Shape<M>;
  /** What the provider accepts; by default what the dialect's own does. */
  readonly rules?: RuleSet | undefined;
  /** Standing rules of the user, the agent and files: copied into the thread's log when it is opened. */
  readonly standingRules?: RulesByScope | undefined;
  /** The model's input window in tokens. */
  readonly window: number | (() => number);
  /** Tokens kept free in it for the answer. */
  readonly reserve?: number | undefined;
  /** The model's name: it decides how tokens are counted, and reports are its own. */
  readonly model?: string | undefined;
  /** Whether the model takes its thoughts back only behind the prompt they were made under; by default told by its name. */
  readonly bindsReasoning?: boolean | undefined;
  /** The model's prices, which say when pruning pays; by default those known by its name. */
  readonly prices?: GivenPrices | undefined;
  /**
   * What the provider's prompt cache finds of a request, which decides what a pruning costs. By default `end` for
   * Anthropic's messages and `prefix` for others; `marks`: you set a mark behind each message that `prompt().marks` names.
   */
  readonly promptCache?: PromptCache | undefined;
  /** The provider's address, where the same model may be served with another window elsewhere. */
  readonly baseUrl?: string | null | undefined;
  /** Where windows that providers stated while refusing are kept for other threads and processes; by default each thread learns its own. */
  readonly limits?: LimitsStore | undefined;
  /** A tokenizer of yours; by default the best one known for the model. */
  readonly counter?: GivenCounter | undefined;
  /**
   * A line says so where more than six hours lie before a user's message. `behind-summary`: only after something was hidden, for a
   * loop whose messages must be sent as they were given.
   */
  readonly times?: "behind-summary" | undefined;
  /** What is sent beside the messages; `prompt({ fixed })` changes it. */
  readonly fixed?: FixedRequest | undefined;
  /** When to compact and how much to keep; `false`: only when asked to, and after a refusal for length. */
  readonly summarization?: SummarizationOptions | false | undefined;
  /** Answers the prompts that ask for a summary; without one, summaries are extracted by rules. */
  readonly summarizer?: ((prompt: string, signal: AbortSignal) => Promise<string> | string) | undefined;
  /** Writes the summaries its own way, instead. */
  readonly writer?: SummaryWriter | undefined;
  /** What finds the hidden messages again, if your agent has it: `find them with ...` says the summary. */
  readonly originals?: string | null | undefined;
  /**
   * `per-write` unless told: the lease is taken for each write and given back after it. `held`: no one else can write to
   * the thread from opening to closing. Or a lease that you hold and give back, with a signal that says it was lost.
   */
  readonly lease?: "per-write" | "held" | { readonly lease: Lease; readonly lost: AbortSignal } | undefined;
  /** `create` unless told: a thread that doesn't exist is made. `refuse`: the answer is `missing`. */
  readonly ifMissing?: "create" | "refuse" | undefined;
  /** How long a write waits for a thread that somebody else holds; 5 seconds unless told. */
  readonly waitMs?: number | undefined;
  /** Stops compactions under way. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: ThreadEvent | UnknownModel) => void) | undefined;
  readonly deps?: Partial<Omit<ThreadDeps, "store">> | undefined;
}

export interface OpenThread<M> extends ThreadActs {
  readonly id: string;
  readonly userId: string;
  /**
   * Writes messages to the log, all or none, and returns the place of each. One whose id is in the log already, however
   * far back, is passed over and its place returned, so that a whole history may be given again and again. What `also`
   * makes of these places is written in the same commit.
   */
  append(messages: readonly GivenMessage<M>[], also?: WriteAlso): Promise<readonly number[]>;
  /** What to send now: compacted first if the policy says so. The same array as long as nothing has changed. */
  prompt(options?: PromptRequest): Promise<ThreadPrompt<M>>;
  /** What the provider counted for the last prompt: from here on counts are anchored on it. */
  report(usage: ReportedUsage | ProviderUsage | null | undefined, options?: ReportOptions): Promise<Reported>;
  /** After a failed call: true when it failed because the prompt was too long and the next one is shorter. */
  recover(error: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<boolean>;
  /** A compaction now, whatever the policy says. `dryRun`: what it would come to, without a model; nothing is written or told. */
  compact(
    request?: Pick<CompactRequest, "focus" | "keep" | "signal" | "style" | "dryRun">,
  ): Promise<CompactionOutcome<M>>;
  /**
   * One call of the model, whole: `ask` gets what to send and returns what was answered, which is written with its report.
   * A prompt that was refused for its length is made shorter and sent once more; any other error of `ask` is thrown.
   */
  call<A extends CallAnswer<M>>(ask: (prompt: ThreadPrompt<M>) => Promise<A>, options?: PromptRequest): Promise<A>;
  /** Any other act on the thread, in turn and under its lease: `thread.act((writer) => redact(writer, seq))`. */
  act<T>(work: (writer: Writer) => Promise<T>): Promise<T>;
  /** How the view differs from what was said, and where the log stands. */
  changes(): Promise<ThreadChanges>;
  /** From here on no one else can write to the thread, until it is released or closed. */
  hold(): Promise<"held" | HeldLease | { readonly kind: "missing" }>;
  /** Gives the lease back, if it is held. The thread stays open: the lease is taken for each write then. */
  release(): Promise<void>;
  /** Gives the thread back, if it was held, and stops a summary being drafted. */
  close(): Promise<void>;
}

/** What came of a call: the model's messages, and what its provider counted, in its own spelling. */
export interface CallAnswer<M> {
  readonly messages: readonly GivenMessage<M>[];
  readonly usage?: ReportedUsage | ProviderUsage | null | undefined;
}

/** Made of the places of the messages, once they are known. */
export type WriteAlso = (seqs: readonly number[]) => Pick<AppendBatch, "jobs" | "matches" | "flush"> & {
  /** Changes of the thread's state. */
  readonly state?: Extract<RecordInput, { kind: "state" }>["patch"];
};

export interface ThreadChanges {
  readonly version: number;
  /** A summary stands for some of it, or parts are shortened. */
  readonly hidden: boolean;
  readonly erased: boolean;
  /** Something is shown beside a question, or messages are shown that only the log has (`addedMessages` in its state). */
  readonly added: boolean;
}

export interface PromptRequest {
  /** What is sent beside the messages from here on. */
  readonly fixed?: FixedRequest | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ThreadPrompt<M> {
  /** Valid for the provider, and inside the window. Empty in a thread where nothing was said. */
  readonly messages: readonly M[];
  /** What each of them begins with: a message that was said, the summary, its acknowledgement. */
  readonly sources: readonly MessageSource[];
  /** The whole request, with what is sent beside the messages. */
  readonly count: Count;
  /** With `promptCache: "marks"`, the messages that get a mark at their end, by index: two at most, and the last. */
  readonly marks: readonly number[];
  /** What became of the compaction that was due, or why none was; null where none is made by itself. */
  readonly outcome: CompactionOutcome<M> | null;
  /** Where the log stands. */
  readonly version: number;
  /** The hash of the whole request, where the model binds its thoughts to it; else null. */
  readonly prefix: string | null;
}

/** `input` is the whole prompt, cached part included. */
export interface ReportedUsage extends Partial<Usage> {
  readonly input: number;
  readonly output: number;
}

/** As OpenAI (chat and Responses), Anthropic, Gemini, the AI SDK or LangChain spell it. */
export type ProviderUsage = object;

export interface ReportOptions {
  /** The answer, by its id or its place; by default the first answer that was appended after the prompt. */
  readonly of?: string | number | undefined;
}

/** `pending`: the answer isn't in the log yet; the report is written with it. `ignored`: it can't be true, or there was none. */
export type Reported =
  | { readonly kind: "accepted" | "pending" }
  | { readonly kind: "ignored"; readonly reason: NonNullable<UsageInput["flaw"]> | "no-usage" | "no-prompt" };

export type OpenedThread<M> =
  | { readonly kind: "open"; readonly thread: OpenThread<M> }
  /** Only with `lease: "held"`: somebody else holds it. */
  | HeldLease
  /** Only with `ifMissing: "refuse"`. */
  | { readonly kind: "missing" }
  | { readonly kind: "bad-id" | "bad-user" | "bad-shape"; readonly problem: string };

/** Once, when a thread is opened: nothing is known by the model's name, so defaults stand for tokenizer, prices and thoughts. */
interface UnknownModel {
  readonly type: "model-unknown";
  readonly model: string;
}

/** Throws a `SettingsError` for invalid settings. */
export async function openThread<M extends object>(options: OpenThreadOptions<M>): Promise<OpenedThread<M>> {
  const { store, id, userId = store.userId, agentName, lease = "per-write", waitMs = WAIT_MS } = options;
  const refused = refusalOf(id, userId);
  if (refused !== null) return refused;
  const { dialect } = options.shape;
  if (!isDialect(dialect)) return { kind: "bad-shape", problem: shapeProblem(dialect) };
  const settings = summarizationFromOptions(options.summarization || {});
  if (typeof options.window !== "function") checkedWindow(options.window)();
  const deps = threadDeps(asUser(store, userId), options.deps);
  const creates = options.ifMissing !== "refuse";
  if (creates && (await deps.store.header(id)) === undefined) await createThread(deps, { id, agentName });
  const shape = deps.tools === undefined ? options.shape : withToolFacts(options.shape, deps.tools);
  const opened = await openStoredThread({ deps, id, shape, lease, waitMs, times: options.times });
  // Deleted in between: it is made anew.
  if (opened.kind === "missing") return creates ? openThread(options) : opened;
  if (opened.kind !== "open") return opened;
  const { thread } = opened;
  try {
    await thread.turnTo(await modelOf({ ...options, shape }, { deps, settings, dialect, head: thread.head() }));
    const { standingRules } = options;
    if (standingRules !== undefined && hasOther(thread.head().state, standingRules))
      await thread.act((writer) => takeUpRules(writer, standingRules));
    return { kind: "open", thread: Object.assign(thread, threadActs({ deps, id, files: null, act: thread.act })) };
  } catch (error) {
    await thread.release();
    throw error;
  }
}

/** Whether the thread's copies of these rules differ from them: most threads have none, and need none. */
function hasOther(state: Readonly<Record<string, unknown>>, standing: RulesByScope): boolean {
  if (state["rules"] === undefined && Object.values(standing).every((texts) => texts.length === 0)) return false;
  const rules = readRules(state);
  return copyRules(rules, standing, "") !== rules;
}

const WAIT_MS = 5_000;

function refusalOf(id: string, userId: string): Extract<OpenedThread<never>, { readonly problem: string }> | null {
  const named = checkThreadId(id);
  if (named.kind === "invalid") return { kind: "bad-id", problem: named.problem };
  const user = checkUser(userId);
  return user.kind === "invalid" ? { kind: "bad-user", problem: user.problem } : null;
}

function shapeProblem(dialect: string): string {
  return `a log keeps messages of ${DIALECTS.join(", ")}, not of ${JSON.stringify(dialect)}: convert them, or give your shape the name of the one whose messages it reads`;
}
