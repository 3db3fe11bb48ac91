/** Tools that are derived from operations: an operation with `tool` is one, with the same input and the same result. */
import type { McpServer, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Home } from "palimpsest/internal/home";
import { context, map } from "palimpsest/internal/looking";
import { add, facts, forget } from "palimpsest/internal/memory-operations";
import { type Operation, OperationError } from "palimpsest/internal/operation";
import { rules, summary, summaryEdit } from "palimpsest/internal/shaping";
import { listThreads } from "palimpsest/internal/thread-operations";
import { z } from "zod";
import { failed, shown, told } from "./answer.ts";
import { factSource } from "./client-name.ts";
import { hasThread, noThread } from "./history-tools.ts";

export function addOperationTools(server: McpServer, home: Home): void {
  for (const operation of [listThreads, map, context, rules, summary, summaryEdit, facts, add, forget])
    addOperation(server, home, operation as unknown as Operation<z.ZodObject, object>);
}

/** What every tool here calls a field that a route or a command calls otherwise. */
const TOOL_NAMES: Readonly<Record<string, string>> = { q: "query", fact: "id" };

const EFFECTS: Readonly<Record<"reads" | "adds" | "deletes", ToolAnnotations>> = {
  reads: { readOnlyHint: true, openWorldHint: false },
  adds: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
  deletes: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
};

function addOperation(server: McpServer, home: Home, { name, tool, input, run }: Operation<z.ZodObject, object>): void {
  const { title, description, text, effect = "reads", defaults = {}, without = [] } = tool!;
  const fields = Object.keys(input.shape).filter((field) => !without.includes(field));
  const inputSchema = z.object(
    Object.fromEntries(fields.map((field) => [TOOL_NAMES[field] ?? field, input.shape[field] as z.ZodType])),
  );
  server.registerTool(
    tool!.name ?? name.replaceAll("-", "_"),
    { title, description, inputSchema, annotations: EFFECTS[effect] },
    async (given: Readonly<Record<string, unknown>>, request) => {
      const names = fields.map((field) => [field, given[TOOL_NAMES[field] ?? field]] as const);
      const asked = { ...defaults, ...Object.fromEntries(names.filter(([, value]) => value !== undefined)) };
      const { thread } = asked as { readonly thread?: string };
      if (thread !== undefined && !(await hasThread(home, thread))) return noThread(thread);
      const options = { signal: request.mcpReq.signal, source: factSource(server, request) };
      const result = await run(home, asked, options).catch((error: unknown) => {
        if (OperationError.isInstance(error)) return error;
        throw error;
      });
      if (result instanceof OperationError) return failed(result.message);
      return text === undefined ? shown(result) : told(text(result));
    },
  );
}
