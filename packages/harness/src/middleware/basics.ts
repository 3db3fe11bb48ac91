/**
 * Lets the agent ask the person instead of guessing. The call ends the run with the question; the next user message is
 * the answer.
 */
import { copyRules, readRules } from "@palimpsest/core/internal/log";
import { aiSdkShape, type Repair } from "@palimpsest/core/internal/message";
import { tool } from "ai";
import { z } from "zod/v4";
import { pendingIn } from "../agent/approval.ts";
import { AgentError } from "../agent/errors.ts";
import type { Middleware } from "../agent/run.ts";
import { rulesInFiles } from "../thread/rule-files.ts";
import { type TitleLimits, titleOf } from "../thread/title.ts";
import { describeTool } from "../tool-facts.ts";

declare module "../agent/features.ts" {
  interface FeatureEvents {
    readonly clarification: {
      readonly type: "question-ask";
      readonly question: string;
      readonly options: readonly string[];
    };
  }
  interface FeatureEnds {
    /** The agent asked the person something; the next user message is the answer. */
    readonly clarification: { readonly kind: "asked"; readonly question: string; readonly options: readonly string[] };
  }
}

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

declare module "../agent/features.ts" {
  interface FeatureEvents {
    readonly danglingCalls: { readonly type: "calls-repair"; readonly repairs: readonly Repair[] };
  }
}

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

declare module "../agent/features.ts" {
  interface FeatureEvents {
    readonly title: { readonly type: "title-set"; readonly title: string };
  }
}

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
  /** Paths of files such as AGENTS.md, of which standing instructions are taken. Whoever names one trusts its words. */
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
