/**
 * One run on one thread, as middleware and tools see it: where it stands, how to write to the log, how to compact, how to
 * end it. Everything written goes through `commit`, under the run's lease; once that is lost nothing can be written.
 */
import type { CompactionOutcome } from "@palimpsest/core/compaction";
import type { MessageRecord } from "@palimpsest/core/log";
import type { AiSdkMessage } from "@palimpsest/core/message";
import type { Prompt } from "@palimpsest/core/prompt";
import type { CompactRequest } from "../compaction/compactor.ts";
import type { NewJob } from "../stores/outbox.ts";
import type { AppendBatch } from "../stores/store.ts";
import type { Conversation } from "../thread/conversation.ts";
import type { OpenLog } from "../thread/log.ts";
import { bodyOf, ThreadError } from "../thread/log.ts";
import type { RecordInput, ThreadDeps } from "../thread/writer.ts";
import { LeaseLostError } from "./errors.ts";
import type { Emit, RunEnd } from "./events.ts";
import type { RunContext } from "./tools.ts";

export interface Run {
  readonly threadId: string;
  readonly runId: string;
  readonly userId: string;
  readonly agentName: string;
  readonly deps: ThreadDeps;
  readonly conversation: Conversation<AiSdkMessage>;
  /** Aborted by the caller, or when the lease is lost. */
  readonly signal: AbortSignal;
  readonly emit: Emit;
  /** Seq of the message this run answers; null when it goes on from something else, such as a tool's result. */
  readonly question: number | null;
  /** The words of the message that this run was given, also before it is in the log; empty when it goes on without one. */
  readonly asked: string;
  /** What the caller gave this run beside its messages. */
  readonly runtimeContext: unknown;
  readonly toolsContext: Readonly<Record<string, unknown>>;
  /** The step that is under way, from 1; 0 before the first. */
  readonly step: number;
  /**
   * All of them or none, with the jobs they ask for; returns their seqs. Throws when the thread is no longer this run's.
   * Commits of tools that run side by side take turns; as a function, the inputs are made when their turn has come.
   */
  commit(inputs: Inputs, also?: Pick<AppendBatch, "jobs" | "prompts">): Promise<readonly number[]>;
  say(message: AiSdkMessage, origin: MessageRecord["origin"], beside?: SaidBeside): Promise<number>;
  /** Replaces bodies this run has written by others, for good, and goes on after that. */
  erase(
    bodies: readonly { readonly seq: number; readonly body: string }[],
    inputs?: readonly RecordInput[],
  ): Promise<void>;
  /** What would be sent now, before anything hooks into it. */
  prompt(): Prompt<AiSdkMessage>;
  compact(request: CompactRequest): Promise<CompactionOutcome<AiSdkMessage>>;
  /** The model refuses a thought of its own once anything before it has changed: system prompt and tools stay as they are. */
  readonly bindsReasoning: boolean;
  /** How many tokens the model takes, as far as is known now. */
  window(): number;
  /** The run ends after the step that is under way. */
  finish(end: RunEnd): void;
}

/** What goes into the log together with a message. */
interface SaidBeside {
  /** The message's own; a new one unless given. */
  readonly id?: string | undefined;
  readonly inputs?: (seq: number) => readonly RecordInput[];
  readonly jobs?: (throughSeq: number) => readonly NewJob[];
  /** The hash of the request it answers, where its reasoning is bound to it. */
  readonly prefix?: string | null;
}

type Inputs = readonly RecordInput[] | (() => readonly RecordInput[]);

export interface RunOptions
  extends RunContext,
    Pick<Run, "runId" | "deps" | "signal" | "emit" | "prompt" | "compact" | "window" | "bindsReasoning"> {
  readonly log: OpenLog<AiSdkMessage>;
  readonly asked?: string | undefined;
}

export interface ActiveRun extends Run {
  step: number;
  question: number | null;
  readonly ending: RunEnd | null;
}

export function startRun(options: RunOptions): ActiveRun {
  const { log, emit, deps, ...others } = options;
  const { conversation } = log;
  const { id: threadId, user: userId, agent: agentName } = conversation.header;
  let ending: RunEnd | null = null;
  /** For a run it is all the same why the thread is no longer its own. */
  const lost = (error: unknown): never => {
    const ours = !(error instanceof ThreadError) || (error.code !== "lease-lost" && error.code !== "missing");
    throw ours ? error : new LeaseLostError(threadId);
  };
  return {
    ...others,
    deps,
    emit,
    conversation,
    get bindsReasoning() {
      return options.bindsReasoning;
    },
    threadId,
    userId,
    agentName,
    commit: (inputs, also) =>
      log.write(() => ({ inputs: typeof inputs === "function" ? inputs() : inputs, ...also })).catch(lost),
    erase: (bodies, inputs = []) => log.erase(bodies, inputs).catch(lost),
    asked: options.asked ?? "",
    runtimeContext: options.runtimeContext,
    toolsContext: options.toolsContext ?? {},
    step: 0,
    question: null,
    get ending() {
      return ending;
    },
    async say(message, origin, { id = deps.ids(), inputs = () => [], jobs = () => [], prefix = null } = {}) {
      const body = { kind: "message", id, dialect: "ai-sdk", origin, body: bodyOf(message) } as const;
      const first: RecordInput = prefix === null ? body : { ...body, prefix };
      const make = () => {
        const seq = conversation.head().version + 1;
        return { inputs: [first, ...inputs(seq)], jobs: jobs(seq) };
      };
      const [seq] = await log.write(make).catch(lost);
      emit({ type: "message-append", seq: seq!, role: message.role });
      return seq!;
    },
    finish(end) {
      ending ??= end;
    },
  };
}
