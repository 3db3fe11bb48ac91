/**
 * Tools of ours that the model of a `/v1` request is offered beside the client's: notes, a fresh window, checkpoints and
 * the search of what was said before. Only where the configuration or a header asks for them.
 */

import type { CallPart } from "@palimpsest/core/internal/message";
import { findText, readText } from "palimpsest/internal/recall";
import { toolDefinitions } from "palimpsest/internal/threads";
import { type OpenThread, type ThreadTool, type ThreadTools, threadTools } from "palimpsest/session";
import { z } from "zod/v4";
import { listIn, parseFields } from "../../http/read-json.ts";
import { lengthRule } from "../policy.ts";
import type { ClaimedRequest, ParsedRequest } from "../request.ts";
import type { ReadAnswer } from "../vendor.ts";

interface OwnTool extends Omit<ThreadTool, "name"> {
  readonly name: string;
}

export interface OwnTools {
  readonly names: readonly string[];
  /** All tools that are sent: the client's, then ours. */
  readonly all: readonly unknown[];
  /** The client's, as it sent them; undefined if it sent none. */
  readonly clients: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** The request with tools of ours behind the client's, if they are on and the model has a choice of tools. */
export function withOwnTools<M extends object>(parsed: ParsedRequest<M>): ParsedRequest<M> {
  const { policy, vendor, body, request, held } = parsed;
  if (policy.tools === "off" || policy.mode !== "on") return parsed;
  const clients = lengthRule(policy).ours === "fit" && held?.tools !== "none" ? vendor.tools.named(body) : null;
  const none = { names: [], all: request.tools, clients: body["tools"], headers: { "x-palimpsest-tools": "none" } };
  if (clients === null) return { ...parsed, ownTools: none };
  const ours = DEFINITIONS.filter(({ name }) => !clients.includes(name));
  const omitted = DEFINITIONS.map(({ name }) => name).filter((name) => clients.includes(name));
  const written = ours.map(vendor.tools.written);
  const all = [...listIn(body["tools"]), ...written];
  const names = ours.map(({ name }) => name);
  const headers = {
    "x-palimpsest-tools": names.join(","),
    ...(omitted.length > 0 && { "x-palimpsest-tools-omitted": omitted.join(",") }),
  };
  return {
    ...parsed,
    body: { ...body, tools: all },
    request: { ...request, tools: [...request.tools, ...written] },
    ownTools: { names, all, clients: body["tools"], headers },
  };
}

/** Whether a definition that stands in the log is one of ours, in any vendor's writing. */
export function isOwnDefinition(tool: unknown): boolean {
  const text = JSON.stringify(tool) ?? "";
  return DEFINITIONS.some(({ name, description }) =>
    text.includes(`"name":${JSON.stringify(name)},"description":${JSON.stringify(description)}`),
  );
}

const QUERY = z.object({ query: z.string().min(1).max(2000).describe("What to look for: names, words, a question") });

const RANGE = z.object({
  from: z.int().min(1),
  to: z.int().min(1).optional().describe("Last message; without it only the first"),
});

type Definition = Omit<OwnTool, "execute">;

const RECALL: Readonly<Record<"recall" | "recall_read", Definition>> = {
  recall: {
    name: "recall",
    description:
      "Search everything said earlier in this conversation, also what is hidden by now. Returns messages with their numbers; read more around one with recall_read.",
    inputSchema: z.toJSONSchema(QUERY, { io: "input" }),
  },
  recall_read: {
    name: "recall_read",
    description:
      "Read messages of this conversation word for word by their numbers, as recall and summaries give them.",
    inputSchema: z.toJSONSchema(RANGE, { io: "input" }),
  },
};

/** Most tokens of one answer of recall, roughly. */
const RECALL_TOKENS = 2000;

const DEFINITIONS: readonly Definition[] = [...toolDefinitions(), RECALL.recall, RECALL.recall_read];

export interface ToolsOnThread<M> {
  readonly byName: ReadonlyMap<string, OwnTool>;
  /** The thread's prompt, in a fresh window if the model has asked for one. */
  readonly prompt: OpenThread<M>["prompt"];
  /** The model is asked again: from here on it is the next step. */
  nextStep(): void;
}

/** A thread stays open between requests: so do the steps since its last fresh window, and one that was asked for. */
const KEPT = new WeakMap<object, ThreadTools<never>>();

export function toolsOnThread<M extends object>(
  { call, target, ownTools }: ParsedRequest<M>,
  { claimed: { thread } }: Pick<ClaimedRequest<M>, "claimed">,
): ToolsOnThread<M> | null {
  const names = ownTools?.names ?? [];
  if (names.length === 0) return null;
  const kept = (KEPT.get(thread) as ThreadTools<M> | undefined) ?? threadTools(thread, { window: target.window });
  KEPT.set(thread, kept as ThreadTools<never>);
  const { threads } = call;
  const recall: OwnTool = {
    ...RECALL.recall,
    execute: (input) =>
      checked(QUERY, input, ({ query }) =>
        findText(threads, thread.id, query, { tokens: RECALL_TOKENS, scope: "thread", except: null }),
      ),
  };
  const read: OwnTool = {
    ...RECALL.recall_read,
    execute: (input) =>
      checked(RANGE, input, ({ from, to = from }) =>
        readText(threads, thread.id, { from, to, offset: 0, characters: RECALL_TOKENS * 4 }),
      ),
  };
  const tools: readonly OwnTool[] = [...kept.tools, recall, read].filter(({ name }) => names.includes(name));
  let isNext = true;
  return {
    byName: new Map(tools.map((tool) => [tool.name, tool])),
    prompt(request) {
      if (!isNext) return thread.prompt(request);
      isNext = false;
      return kept.prompt(request);
    },
    nextStep() {
      isNext = true;
    },
  };
}

async function checked<T>(schema: z.ZodType<T>, input: unknown, run: (given: T) => Promise<string>): Promise<string> {
  const parsed = schema.safeParse(input ?? {});
  return parsed.success ? run(parsed.data) : `Refused, nothing changed: ${z.prettifyError(parsed.error)}`;
}

/* Calls to tools of ours in an answer, and the results that are written for them. */

/** Times that the provider is asked again in one request. */
export const MOST_ROUNDS = 8;

/** Calls to tools of ours in an answer that is whole, and how many to the client's stand beside them. */
export function ownCalls<M extends object>(
  { vendor: { shape } }: Pick<ParsedRequest<M>, "vendor">,
  { tools }: Pick<ClaimedRequest<M>, "tools">,
  { message, state }: ReadAnswer<M>,
): { readonly own: readonly CallPart[]; readonly others: number } {
  const isWhole = state === "ending" || state === "ended";
  if (tools === null || message === null || !isWhole) return { own: [], others: 0 };
  const calls = shape.parts(message).filter((part) => part.kind === "call");
  const own = calls.filter(({ name }) => tools.byName.has(name));
  return { own, others: calls.length - own.length };
}

/** The log has messages that the client doesn't send: from here on the provider gets ours. */
export const ADDED = { state: { addedMessages: true } };

interface OwnResultsOptions<M> {
  readonly said: ReadAnswer<M>;
  readonly isLast?: boolean;
  /** The client has left. */
  readonly left: AbortSignal;
}

/** Results as messages that no client has sent. Every call has one, also those that are not carried out. */
export async function ownResults<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  { said, isLast = false, left }: OwnResultsOptions<M>,
) {
  const most = parsed.deps.settings.gateway.tool_calls_per_round;
  const results = [];
  for (const [at, { id, name, input }] of ownCalls(parsed, turn, said).own.entries()) {
    const run = turn.tools!.byName.get(name)!.execute;
    const text = left.aborted ? LEFT : at < most ? await run(parseFields(input === "" ? "{}" : input)) : tooMany(most);
    results.push({ id, name, text: isLast ? `${text}\n${LIMIT}` : text, isError: false });
  }
  return parsed.vendor.shape.results(results).map((message) => ({ message, origin: "injected" as const }));
}

const LEFT = "Not carried out: the client has left.";
const tooMany = (most: number): string =>
  `Not carried out: at most ${most} calls to these tools are carried out in one answer. Send this one again in your next.`;
const LIMIT = `[The limit of ${MOST_ROUNDS} rounds with these tools in one request is reached. Answer now, without them.]`;
