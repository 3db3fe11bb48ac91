/**
 * Plays many turns of one thread with tools against the strict provider, over HTTP and through the AI SDK's own adapters,
 * and judges what the provider saw: no refusal it wasn't told to make, every request in the window, replay exact.
 */
import assert from "node:assert/strict";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type ProviderRequest, type ProviderServer, startProviderServer } from "@palimpsest/testing";
import { tool } from "ai";
import { z } from "zod";
import type { AgentEvent } from "../../src/agent/events.ts";
import type { ModelObject } from "../../src/agent/model.ts";
import { createDeepAgent } from "../../src/home/create-deep-agent.ts";
import { openSqlite } from "../../src/stores/sqlite.ts";
import { replay, verify } from "../../src/thread/audit.ts";
import { threadDeps } from "../../src/thread/writer.ts";
import { plainCounter, textOf } from "./agent-kit.ts";

const key = { apiKey: "sk-test" };

export const PROTOCOLS: Readonly<Record<string, (server: ProviderServer) => ModelObject>> = {
  "OpenAI chat": ({ url }) => createOpenAICompatible({ name: "local", baseURL: url, includeUsage: true })("m"),
  "OpenAI responses": ({ url }) => createOpenAI({ ...key, baseURL: url })("m"),
  "Anthropic messages": ({ url }) => createAnthropic({ ...key, baseURL: url })("m"),
};

export interface TurnsOptions {
  readonly turns: number;
  readonly window: number;
  /** Every so many requests one is refused as too long although it isn't. */
  readonly refuseEvery?: number;
  /** The model thinks, and the provider refuses a thought behind any other prompt than its own. */
  readonly thinking?: "bound";
}

export interface TurnsReport {
  readonly requests: number;
  readonly refused: number;
  readonly compactions: number;
  /** Thoughts that the provider was sent again, over all requests. */
  readonly thoughts: number;
}

export async function playTurns(
  modelOf: (server: ProviderServer) => ModelObject,
  { turns, window, refuseEvery, thinking }: TurnsOptions,
): Promise<TurnsReport> {
  let thoughts = 0;
  const isRefused = (index: number): boolean => refuseEvery !== undefined && index % refuseEvery === refuseEvery - 1;
  const server = await startProviderServer({
    window,
    respond: (request) => {
      thoughts += request.turns.flatMap(({ parts }) => parts).filter(({ kind }) => kind === "reasoning").length;
      const answer = respond(request);
      return thinking === undefined
        ? answer
        : { ...answer, reasoning: `Thought ${request.index}: ${words(request.index)}` };
    },
    binding: thinking === undefined ? "off" : "prefix",
    faults: ({ index }) => (isRefused(index) ? { kind: "overflow" } : undefined),
    record: "verdicts",
  });
  const store = openSqlite({ path: ":memory:" });
  // Some hours pass between two turns: the date changes all the time.
  let hours = 0;
  const events: AgentEvent[] = [];
  const agent = createDeepAgent({
    model: modelOf(server),
    store,
    window,
    tools: { lookup },
    counter: plainCounter,
    maxOutputTokens: 1_000,
    summarizer: null,
    bindsReasoning: thinking !== undefined,
    deps: { clock: () => new Date(Date.UTC(2026, 0, 1, hours)) },
    onEvent: (event) => event.type === "compaction-end" && events.push(event),
  });
  try {
    const expected: string[] = [];
    for (let turn = 0; turn < turns; turn++) {
      hours += 5;
      const prompt = `Question ${turn}: ${words(turn)}`;
      expected.push(prompt);
      const { end } = await agent.stream({ threadId: "t", prompt }).result;
      assert.deepEqual(end, { kind: "answered", finish: "stop" }, `turn ${turn}`);
    }
    const wrong = server.requests.find(({ verdict, index }) => verdict.kind === "refused" && !isRefused(index));
    assert.equal(wrong, undefined, JSON.stringify(wrong?.verdict));
    assert.deepEqual(await userTexts(store), expected);
    assert.equal((await verify(threadDeps(store), "t")).kind, "whole");
    const compacted = events.filter((event) => event.type === "compaction-end" && event.outcome.kind === "compacted");
    const refused = server.requests.filter(({ verdict }) => verdict.kind !== "answered").length;
    return { requests: server.requests.length, refused, compactions: compacted.length, thoughts };
  } finally {
    await server.close();
    await store.close();
  }
}

const lookup = tool({
  description: "Looks a word up.",
  inputSchema: z.object({ word: z.string(), size: z.number() }),
  execute: ({ word, size }) => `${word}: ${words(size)}`,
});

/** One to three calls for a question, a text once they are answered. */
function respond({ turns, index }: ProviderRequest) {
  if (turns.at(-1)?.role === "tool" || index % 3 === 0) return { text: `Answer: ${words(index)}` };
  const calls = Array.from({ length: 1 + (index % 3) }, (_, at) => ({
    name: "lookup",
    input: { word: `word-${index}-${at}`, size: index + at },
  }));
  return { text: "Let me look.", calls };
}

/** Some sentences, more or fewer by the number. */
function words(n: number): string {
  return `item ${n} stands on the shelf beside the window and waits. `.repeat(1 + ((n * 7) % 23));
}

async function userTexts(store: ReturnType<typeof openSqlite>): Promise<string[]> {
  const texts: string[] = [];
  for await (const record of replay({ store }, "t")) {
    if (record.origin === "user") texts.push(textOf(JSON.parse(record.body)));
  }
  return texts;
}
