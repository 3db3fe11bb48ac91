/** The small middleware of an assistant: each is one screen long and knows nothing of the others. */

import { copyRules, readRules } from "@palimpsest/core/internal/log";
import { type AiSdkOutput, aiSdkShape, describeTool, type Repair } from "@palimpsest/core/internal/message";
import { fixedTokens } from "@palimpsest/core/internal/prompt";
import { tool } from "ai";
import { z } from "zod/v4";
import { pendingIn } from "../agent/approval.ts";
import { AgentError } from "../agent/errors.ts";
import type { Middleware, Run } from "../agent/run.ts";
import type { CallOutcome, ToolCall } from "../agent/tools.ts";
import { findText, readText } from "../recall/answers.ts";
import { RECALL_FACTS } from "../recall/catch-up.ts";
import { rulesInFiles } from "../thread/rule-files.ts";
import { type TitleLimits, titleOf } from "../thread/title.ts";

declare module "../agent/features.ts" {
  interface FeatureEvents {
    readonly clarification: {
      readonly type: "question-ask";
      readonly question: string;
      readonly options: readonly string[];
    };
    readonly danglingCalls: { readonly type: "calls-repair"; readonly repairs: readonly Repair[] };
    readonly title: { readonly type: "title-set"; readonly title: string };
    readonly loopGuard: {
      readonly type: "loop-warn";
      readonly callId: string;
      readonly name: string;
      readonly reason: string;
    };
  }
  interface FeatureEnds {
    /** The agent asked the person something; the next user message is the answer. */
    readonly clarification: { readonly kind: "asked"; readonly question: string; readonly options: readonly string[] };
  }
  interface FeatureErrorCodes {
    readonly loopGuard: "loop";
  }
}

/*
 * Lets the agent ask the person instead of guessing. The call ends the run with the question; the next user message is
 * the answer.
 */

const QUESTION = z.object({
  question: z.string().min(1),
  options: z.array(z.string()).optional().describe("Answers to choose from, if there are a few"),
});

export function clarification(): Middleware {
  return {
    name: "clarification",
    brings: ["ask_clarification"],
    tools: (run) => ({
      ask_clarification: tool({
        description:
          "Ask the user when the request is ambiguous or a choice is theirs to make, instead of guessing. Ends your turn; their next message is the answer.",
        metadata: describeTool({ act: "none" }),
        inputSchema: QUESTION,
        execute: ({ question, options = [] }) => {
          run.emit({ type: "question-ask", question, options });
          run.finish({ kind: "asked", question, options });
          return "The question was put to the user. Their next message is the answer.";
        },
      }),
    }),
  };
}

/*
 * Reports calls that never got a result: a run that was killed left them behind. The view gives each an error result, so
 * the thread stays usable; this tells a person that it did. The log is not touched.
 */

export function danglingCalls(): Middleware {
  return {
    name: "dangling-calls",
    beforeAgent({ prompt, emit, thread }) {
      // Calls that wait for a person have no result yet, and nothing is wrong with that.
      if (pendingIn(thread.head().state, thread.header.id).length > 0) return;
      const synthesized = prompt().repairs.filter(({ kind }) => kind === "result-synthesized");
      if (synthesized.length > 0) emit({ type: "calls-repair", repairs: synthesized });
    },
  };
}

/*
 * Tells the agent which conversation it is in, so that files, tasks and notes it names can be found again. The folders
 * themselves are the workspace's.
 */

export function threadData(): Middleware {
  return {
    name: "thread-data",
    prompt: ({ threadId }) => [{ slot: "instructions", text: `This conversation is thread ${threadId}.` }],
  };
}

/* Names a thread after its first exchange, from the user's own first words. */

export type TitleOptions = TitleLimits;

export function title(limits: TitleOptions = {}): Middleware {
  return {
    name: "title",
    writesLast: ({ thread }) => thread.head().state["title"] === undefined,
    async afterAgent(run, end) {
      if (end.kind !== "answered" && end.kind !== "asked") return;
      const { thread } = run;
      if (thread.head().state["title"] !== undefined) return;
      const first = thread.view().find(({ source, message }) => source === "message" && message.role === "user");
      if (first === undefined) return;
      const words = aiSdkShape.parts(first.message);
      const text = titleOf(words.map((part) => (part.kind === "text" ? part.text : "")).join(" "), limits);
      if (text === "") return;
      await run.commit([{ kind: "state", patch: { title: text } }]);
      run.emit({ type: "title-set", title: text });
    },
  };
}

/* A list of what is to be done, for the agent to keep itself on course. It is state: a compaction can't lose it [F21]. */

const todo = z.object({
  content: z.string().min(1).max(500),
  status: z.enum(["pending", "in_progress", "completed"]).default("pending"),
});

const INPUT = z.object({ todos: z.array(todo).max(100) });

export function todos(): Middleware {
  return {
    name: "todos",
    brings: ["write_todos"],
    tools: (run) => ({
      write_todos: tool({
        description:
          "Write the list of steps of a task that takes several, and keep it up to date: one in_progress, finished ones completed. Replaces the whole list.",
        metadata: describeTool({ act: "none" }),
        inputSchema: INPUT,
        execute: async ({ todos: list }) => {
          await run.commit([{ kind: "state", patch: { todos: list.length === 0 ? null : list } }]);
          if (list.length === 0) return "The list is empty now.";
          return list.map(({ content, status }) => `[${status}] ${content}`).join("\n");
        },
      }),
    }),
  };
}

/** Rules that hold in every thread of an agent. */
export interface StandingRulesOptions {
  readonly agent?: readonly string[] | undefined;
  readonly user?: ((userId: string) => readonly string[]) | undefined;
  /** Paths of files such as AGENTS.md, of which standing instructions are taken. To name one is to trust its words. */
  readonly files?: readonly string[] | undefined;
}

const TEXTS = z.array(z.string()).readonly().optional();
const RULES = z.strictObject({
  agent: TEXTS,
  user: z
    .custom<StandingRulesOptions["user"]>((given) => given === undefined || typeof given === "function")
    .optional(),
  files: TEXTS,
});

function readOptions(given: StandingRulesOptions | readonly string[]): StandingRulesOptions {
  const { data } = RULES.safeParse(Array.isArray(given) ? { agent: given } : given);
  if (data !== undefined) return data;
  const shape = '["Never ..."], or { agent: [...], user: (userId) => [...], files: ["AGENTS.md"] }';
  throw new AgentError("bad-options", `\`rules\` takes a list of sentences, or an object with such lists: ${shape}.`);
}

/** Internal: `rules` of the deep agent. Copies rules into the thread's log, so that replay and `verify` need nothing else; older copies end. */
export function standingRules(given: StandingRulesOptions | readonly string[]): Middleware {
  const { agent = [], user = () => [], files = [] } = readOptions(given);
  return {
    name: "rules",
    async beforeAgent({ thread, deps, commit }) {
      const { header, head } = thread;
      const own = user(header.user);
      if (head().state["rules"] === undefined && agent.length + own.length + files.length === 0) return;
      const file = files.length === 0 ? [] : await rulesInFiles(files);
      const rules = readRules(head().state);
      const now = copyRules(rules, { agent, user: own, file }, deps.clock().toISOString());
      if (now !== rules) await commit([{ kind: "state", patch: { rules: now } }]);
    },
  };
}

/*
 * Gives the agent its past back: `recall` searches everything ever said in the thread, hidden or not, and `recall_read`
 * reads any range of it word for word. Both say that they answer from history, so that search doesn't find its own echo.
 */

export interface RecallOptions {
  /** Most tokens of one answer, roughly; a small window allows less. */
  readonly tokens?: number;
  /** `user`: the agent may also search the user's other threads. */
  readonly scope?: "thread" | "user";
  /** What was corrected since is marked in the answer. */
  readonly corrected?: Middleware["corrected"];
}

const QUERY = z.object({ query: z.string().describe("What to look for: names, words, a question") });

const RANGE = z.object({
  from: z.number().int().min(1),
  to: z.number().int().min(1).optional().describe("Last message; without it only the first"),
  offset: z.number().int().min(0).optional().describe("Skip this many characters, to go on in a long message"),
});

export function recall({ tokens = 2000, scope = "thread", corrected }: RecallOptions = {}): Middleware {
  const rooms = new WeakMap<Run, number>();
  return {
    name: "recall",
    brings: ["recall", "recall_read"],
    // By the request: while a call has no result, the prompt would have to be made valid first.
    wrapModel(request, next, run) {
      rooms.set(run, roomIn(run));
      return next(request);
    },
    tools: (run) => ({
      recall: tool({
        description:
          "Search everything said earlier in this conversation, also what a summary has replaced. Returns messages with their numbers; read more around one with recall_read.",
        inputSchema: QUERY,
        metadata: describeTool(RECALL_FACTS.recall),
        execute: ({ query }) =>
          findText(run.deps, run.threadId, query, {
            tokens: Math.min(tokens, rooms.get(run) ?? roomIn(run)),
            scope,
            except: run.question,
            corrected: corrected && ((hits) => corrected(hits, run)),
          }),
      }),
      recall_read: tool({
        description:
          "Read messages of this conversation word for word by their numbers, as recall and summaries give them.",
        inputSchema: RANGE,
        metadata: describeTool(RECALL_FACTS.recall_read),
        execute: ({ from, to = from, offset = 0 }) =>
          readText(run.deps, run.threadId, {
            from,
            to,
            offset,
            characters: Math.min(tokens, rooms.get(run) ?? roomIn(run)) * 4,
          }),
      }),
    }),
  };
}

/** A longer answer would be cut in the middle when it arrives. */
function roomIn(run: Run): number {
  return Math.max(LEAST, Math.floor((run.window() - fixedTokens(run.prompt())) * SHARE));
}

/** Of what system prompt and tools leave of the window: the rest is for summary, question and what is said next. */
const SHARE = 1 / 4;
/** The best hit fits in all the same. */
const LEAST = 300;

/*
 * Detects an agent that repeats itself: identical calls with identical results, alone or in a cycle. The agent is told
 * first; if it goes on, the call is not carried out and the run ends with the reason.
 */

export function loopGuard(options: Partial<RepetitionPolicy> = {}): Middleware {
  const policy = { ...REPETITION_DEFAULTS, ...options };
  const histories = new WeakMap<Run, History>();
  return {
    name: "loop-guard",
    async wrapTool(call, next, run) {
      const history = historyOf(histories, run);
      const key = keyOf(run, call);
      const verdict = judgeCall(history.seen, key, policy);
      if (verdict.kind === "stop") return stop(run, call, verdict);
      const outcome = await next(call);
      history.seen.push({ call: key, result: run.deps.hash(JSON.stringify(outcome.output) ?? "") });
      if (verdict.kind === "fine") return outcome;
      const reason = `${said(call, verdict)} Another round will not change it: try something else, or say what is missing.`;
      run.emit({ type: "loop-warn", callId: call.id, name: call.name, reason });
      return { ...outcome, output: withNote(outcome.output, reason) };
    },
  };
}

interface History {
  /** What the model can still see: a new compaction or prune starts it anew. */
  readonly view: string;
  readonly seen: SeenCall[];
}

function historyOf(histories: WeakMap<Run, History>, run: Run): History {
  const { compaction, prunes } = run.thread.live();
  // Shortening a long new result hides nothing the model has seen.
  const hiding = prunes.findLast(({ entries }) => entries.some(({ reason }) => reason !== "clamped"));
  const view = `${compaction?.seq}.${hiding?.seq}`;
  const cached = histories.get(run);
  const history = cached?.view === view ? cached : { view, seen: [] };
  histories.set(run, history);
  return history;
}

function keyOf({ deps }: Run, { name, input }: ToolCall): string {
  return deps.hash(`${name} ${JSON.stringify(input)}`);
}

function stop(run: Run, call: ToolCall, verdict: Exclude<RepetitionVerdict, { kind: "fine" }>): CallOutcome {
  const reason = `Stopped: ${said(call, verdict)}`;
  run.finish({ kind: "failed", code: "loop", message: reason });
  return { output: { type: "error-text", value: `${reason} The call was not carried out.` }, isError: true };
}

function said({ name }: ToolCall, { period, times }: { readonly period: number; readonly times: number }): string {
  return period === 1
    ? `${name} was called ${times} times in a row with the same arguments and gave the same result.`
    : `the same ${period} calls, ${name} among them, have come round ${times} times with the same results.`;
}

function withNote(output: AiSdkOutput, note: string): AiSdkOutput {
  switch (output.type) {
    case "text":
    case "error-text":
      return { ...output, value: `${output.value}\n\n[${note}]` };
    case "content":
      return { ...output, value: [...output.value, { type: "text", text: `[${note}]` }] };
    case "json":
    case "error-json":
      return {
        type: output.type === "json" ? "text" : "error-text",
        value: `${JSON.stringify(output.value)}\n\n[${note}]`,
      };
    case "execution-denied":
      return output;
  }
}

/**
 * Whether an agent goes round in circles. Pure: it sees what was called and what came back, in order, and says whether
 * the next call would repeat a cycle. The same call with another result is progress, not a repetition. A compaction
 * or a prune hides results from the model, so what came before one doesn't count: to read again is legitimate [F33].
 */

export interface SeenCall {
  /** Name and arguments. */
  readonly call: string;
  readonly result: string;
}

interface RepetitionPolicy {
  /** The repetition that is warned about, and the one that is not carried out any more. */
  readonly warnAt: number;
  readonly stopAt: number;
  /** The longest cycle that is looked for. */
  readonly maxPeriod: number;
}

const REPETITION_DEFAULTS: RepetitionPolicy = { warnAt: 3, stopAt: 5, maxPeriod: 4 };

type RepetitionVerdict =
  | { readonly kind: "fine" }
  | { readonly kind: "warn" | "stop"; readonly period: number; readonly times: number };

/** What to say of `next`, given everything since the last compaction. */
export function judgeCall(
  seen: readonly SeenCall[],
  next: string,
  policy: RepetitionPolicy = REPETITION_DEFAULTS,
): RepetitionVerdict {
  for (let period = 1; period <= policy.maxPeriod; period++) {
    const times = cycles(seen, next, period);
    if (times >= policy.stopAt) return { kind: "stop", period, times };
    if (times >= policy.warnAt) return { kind: "warn", period, times };
  }
  return { kind: "fine" };
}

/** How often the cycle of this length has occurred, including the one that `next` completes or continues. */
function cycles(seen: readonly SeenCall[], next: string, period: number): number {
  const last = seen.at(-period);
  if (last?.call !== next) return 1;
  let same = 1;
  for (let index = seen.length - 1; index >= period; index--) {
    const [one, before] = [seen[index]!, seen[index - period]!];
    if (one.call !== before.call || one.result !== before.result) break;
    same++;
  }
  // The last `same` steps equal those one period before them.
  return 1 + Math.floor((same + period - 1) / period);
}
