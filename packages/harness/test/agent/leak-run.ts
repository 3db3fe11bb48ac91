/**
 * A process that carries out runs with tools, children and compactions, and says how many of the finished ones are still
 * in memory after garbage collections. Only weak references of its own point to them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { startProviderServer } from "@palimpsest/testing";
import { tool } from "ai";
import { z } from "zod";
import type { Middleware, Run } from "../../src/agent/run.ts";
import { createDeepAgent } from "../../src/home/create-deep-agent.ts";

globalThis.AI_SDK_LOG_WARNINGS = false;

const RUNS = 12;
const CALLS = [
  { name: "echo", input: { text: "x" } },
  { name: "hang", input: {} },
  { name: "bash", input: { command: "echo x" } },
  { name: "task", input: { description: "look", prompt: "Look.", subagent_type: "general-purpose" } },
];

const server = await startProviderServer({
  record: "verdicts",
  respond: ({ turns, tools }) =>
    turns.at(-1)?.role === "tool" || !tools.includes("task") ? "Done." : { text: "Let me see.", calls: CALLS },
});
const base = mkdtempSync(join(tmpdir(), "palimpsest-leak-"));
const finished: WeakRef<Run>[] = [];
const watching: Middleware = {
  name: "watching",
  afterAgent: (run) => void finished.push(new WeakRef(run)),
};
const agent = createDeepAgent({
  model: createOpenAICompatible({ name: "fake", baseURL: server.url, apiKey: "key" })("fake"),
  tools: {
    echo: tool({ inputSchema: z.object({ text: z.string() }), execute: async ({ text }) => `echo ${text}` }),
    hang: tool({ inputSchema: z.object({}), execute: () => new Promise<string>(() => {}) }),
  },
  toolTimeoutMs: 1,
  files: { base },
  middleware: [watching],
});
// As in a server that stops everything with one signal.
const { signal } = new AbortController();
const failed: unknown[] = [];
for (let run = 0; run < RUNS; run++) {
  const { end } = await agent.generate({ threadId: `t${run % 4}`, prompt: "Go.", signal });
  if (end.kind !== "answered") failed.push(end);
  await agent.compact(`t${run % 4}`, { signal });
}
for (let round = 0; round < 10; round++) {
  await nextTurn();
  globalThis.gc?.();
}
const alive = finished.filter((run) => run.deref() !== undefined).length;
process.stdout.write(`${JSON.stringify({ finished: finished.length, alive, failed })}\n`);
await agent.close();
await server.close();
rmSync(base, { recursive: true });
