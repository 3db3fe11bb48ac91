/**
 * Any sequence of turns against a model and tools that do anything at all, with aborts, manual compactions and undos in
 * between: every run ends as a value, every request is valid and fits, the log verifies and holds every word.
 */
import assert from "node:assert/strict";
import { APICallError } from "@ai-sdk/provider";
import { type AiSdkMessage, aiSdkShape, assertValid, forRequest, rulesOf } from "@palimpsest/core/internal/message";
import type { ScriptedStep } from "@palimpsest/testing";
import { tool } from "ai";
import fc from "fast-check";
import { z } from "zod";
import { rebuildHead, verify } from "../../src/thread/audit.ts";
import { threadDeps } from "../../src/thread/writer.ts";
import { deepAgentKit, type Kit, textOf } from "./agent-kit.ts";

const WINDOW = 5_000;
const nothing = z.object({});
const tools = {
  fine: tool({ inputSchema: z.object({ words: z.number() }), execute: ({ words }) => text(words) }),
  odd: tool({ inputSchema: nothing, execute: (): unknown => ({ n: 1n, none: undefined, bytes: new Uint8Array(3) }) }),
  broken: tool({
    inputSchema: nothing,
    execute: (): string => {
      throw new Error("broken");
    },
  }),
  hanging: tool({ inputSchema: nothing, execute: () => new Promise<string>(() => {}) }),
};

const call = fc.oneof(
  { weight: 4, arbitrary: fc.nat(3_000).map((words) => ({ name: "fine", input: { words } })) },
  fc.constantFrom(
    { name: "odd", input: {} },
    { name: "broken", input: {} },
    { name: "hanging", input: {} },
    { name: "unknown", input: { a: 1 } },
    { name: "fine", input: { words: "many" } },
    { name: "fine", input: "{oops" },
    // Providers reuse ids; so does this one.
    { id: "same", name: "fine", input: { words: 3 } },
  ),
);

const step: fc.Arbitrary<ScriptedStep> = fc.oneof(
  fc.nat(400).map((words) => text(words + 1)),
  {
    weight: 3,
    arbitrary: fc.record({
      text: fc.constantFrom("", "Let me see."),
      calls: fc.array(call, { minLength: 1, maxLength: 4 }),
    }),
  },
  fc.constantFrom<ScriptedStep>(
    { text: "" },
    { text: "", reasoning: "only thinking" },
    { error: refusal(429) },
    { error: refusal(500) },
    { error: refusal(400, "maximum context length is 4000 tokens") },
    { error: refusal(401) },
    { text: "half of it", ends: { by: "break", error: new Error("cut") } },
    { text: "half of it", calls: [{ name: "odd", input: {} }], ends: { by: "silence" } },
    { text: "cut short", finish: "length" },
  ),
);

const act = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("turn" as const),
      words: fc.oneof(fc.nat(60), fc.nat(9_000)),
      steps: fc.array(step, { maxLength: 6 }),
      /** Aborts when this many events were seen. */
      abortAt: fc.option(fc.nat(20), { freq: 3 }),
    }),
  },
  fc.constantFrom({ kind: "compact" as const }, { kind: "undo" as const }, { kind: "redo" as const }),
);

export function checkRuns(numRuns: number): Promise<void> {
  return fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 12 }), async (acts) => {
      let steps: ScriptedStep[] = [];
      const kit = deepAgentKit(() => steps.shift() ?? "Done.", {
        tools,
        window: WINDOW,
        toolTimeoutMs: 1,
        sleep: async () => {},
      });
      const prompts: string[] = [];
      for (const [index, one] of acts.entries()) {
        if (one.kind === "compact") await kit.agent.compact("t");
        else if (one.kind !== "turn") await kit.agent.thread("t")[one.kind]();
        else {
          steps = [...one.steps];
          prompts.push(`Turn ${index}: ${text(one.words)}`);
          await turn(kit, prompts.at(-1)!, one.abortAt);
        }
      }
      await judge(kit, prompts);
      await kit.store.close();
    }),
    { numRuns },
  );
}

async function turn(kit: Kit, prompt: string, abortAt: number | null): Promise<void> {
  const stop = new AbortController();
  const stream = kit.agent.stream({ threadId: "t", prompt, signal: stop.signal });
  let seen = 0;
  for await (const _ of stream) if (seen++ === abortAt) stop.abort();
  const { end } = await stream.result;
  assert.notEqual(end.kind, "busy");
  if (end.kind === "failed") assert.notEqual(end.code, "failed", end.message);
}

async function judge(kit: Kit, prompts: readonly string[]): Promise<void> {
  const rules = forRequest(rulesOf("ai-sdk"));
  for (const { prompt, inputTokens } of kit.model.calls) {
    assertValid(prompt as unknown as readonly AiSdkMessage[], aiSdkShape, rules);
    assert.ok(inputTokens <= WINDOW, `${inputTokens} tokens`);
  }
  if (prompts.length === 0) return;
  assert.equal((await verify(threadDeps(kit.store), "t")).kind, "whole");
  assert.equal((await rebuildHead(threadDeps(kit.store), "t")).kind, "equal");
  const said = (await kit.said()).filter(({ role }) => role === "user").map(textOf);
  assert.deepEqual(said, prompts);
}

function text(words: number): string {
  return Array.from({ length: words }, (_, at) => `word${at % 97}`).join(" ");
}

function refusal(statusCode: number, message = `status ${statusCode}`): APICallError {
  return new APICallError({ message, url: "", requestBodyValues: {}, statusCode, responseBody: message });
}
