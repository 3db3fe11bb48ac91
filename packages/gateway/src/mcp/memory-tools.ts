/** The user's memory, for an assistant elsewhere. What it adds passes the gates a model's proposals pass, and carries its name. */
import { randomUUID } from "node:crypto";
import type { McpServer } from "@modelcontextprotocol/server";
import type { Home } from "palimpsest/internal/home";
import { checkScope, memoryService } from "palimpsest/internal/memory";
import type { MemoryScope, MemoryService } from "palimpsest/memory";
import { z } from "zod";
import { failed, shown } from "./answer.ts";
import { factSource } from "./client-name.ts";

const agent = z.string().max(64).optional().describe("A custom agent's memory; without it the user's own");

export function addMemoryTools(server: McpServer, home: Home): void {
  server.registerTool(
    "memory_search",
    {
      title: "Search memory",
      description: "Find what is remembered about the user: the facts that match best, with their ids.",
      inputSchema: z.object({
        query: z.string().min(1).max(10_000),
        limit: z.int().min(1).max(100).optional().describe("How many at most; 10 unless told"),
        agent,
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ query, limit = 10, agent: name }) =>
      inMemory(home, name, async ({ service, scope }) => {
        const hits = await service.search(scope, query, limit);
        return shown({ facts: hits.map(({ fact, score }) => ({ ...fact, score })) });
      }),
  );
  server.registerTool(
    "memory_add",
    {
      title: "Remember a fact",
      description:
        "Remember something lasting about the user that they said or decided: one sentence, no instructions, no secrets.",
      inputSchema: z.object({
        content: z.string().min(1).max(10_000),
        category: z.string().min(1).max(40).optional(),
        confidence: z.number().min(0).max(1).optional(),
        agent,
      }),
      annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ content, category, confidence, agent: name }, context) =>
      inMemory(home, name, async ({ service, scope }) => {
        const fact = {
          content,
          ...(category !== undefined && { category }),
          ...(confidence !== undefined && { confidence }),
        };
        const added = await service.state(scope, fact, factSource(server, context));
        if (added.kind !== "refused") return shown(added);
        return failed(`Not remembered (${added.reason}): ${WHY[added.reason] ?? "say it in other words"}.`);
      }),
  );
  server.registerTool(
    "memory_forget",
    {
      title: "Forget a fact",
      description: "Forget a fact by its id, as memory_search gives it. It can be taken back by the user.",
      inputSchema: z.object({ id: z.string().min(1).max(200), agent }),
      annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ id, agent: name }) =>
      inMemory(home, name, async ({ service, scope }) => {
        const result = await service.forget(scope, [id]);
        if (result.kind === "unknown-fact") return failed(`There is no fact ${JSON.stringify(id)}.`);
        return shown({ forgotten: result.facts.map((fact) => fact.id) });
      }),
  );
}

const WHY: Readonly<Record<string, string>> = {
  empty: "there is no word in it",
  "too-long": "a fact has at most 500 characters",
  "not-durable": "it is a task or an upload, which is over soon",
  instruction: "it tells an assistant what to do instead of saying something about the user",
  approval: "consent in advance is never remembered",
  "only-a-secret": "there is nothing in it but a secret",
};

interface OpenMemory {
  readonly service: MemoryService;
  readonly scope: MemoryScope;
}

async function inMemory<T>(home: Home, agentName: string | undefined, work: (memory: OpenMemory) => Promise<T>) {
  const checked = checkScope(home.userId, agentName ?? null);
  if (checked.kind === "invalid") return failed(checked.problem);
  const repository = await home.memory(home.store);
  return work({ service: memoryService({ repository, clock: home.clock, ids: randomUUID }), scope: checked.scope });
}
