/** The tools of a run: the caller's and each middleware's, under names of their own, and their schemas as the provider receives them. */
import { asSchema, type ToolSet } from "ai";
import { AgentError } from "./errors.ts";
import type { Middleware } from "./middleware.ts";
import type { Run } from "./run.ts";

export async function gatherTools(own: ToolSet, list: readonly Middleware[], run: Run): Promise<ToolSet> {
  const all = new Map(Object.entries(own));
  for (const { name: owner, tools } of list) {
    const brought = typeof tools === "function" ? await tools(run) : (tools ?? {});
    for (const [name, tool] of Object.entries(brought)) {
      if (all.has(name)) {
        throw new AgentError(
          "duplicate-tool",
          `two tools are named ${name}; one comes from ${owner}: rename or leave one out`,
        );
      }
      all.set(name, tool);
    }
  }
  return Object.fromEntries([...all].map(([name, tool]) => [name, withSchema(tool)]));
}

/** A clash of names that can be seen before any run. Throws an `AgentError`. */
export function assertDistinct(own: ToolSet, list: readonly Middleware[]): void {
  const owners = new Map(Object.keys(own).map((name) => [name, "the agent's tools"]));
  for (const { name: owner, tools, brings = typeof tools === "object" ? Object.keys(tools) : [] } of list) {
    for (const name of brings) {
      const other = owners.get(name);
      if (other !== undefined) {
        const detail = `two tools are named ${name}, of ${other} and of ${owner}: rename or leave one out`;
        throw new AgentError("duplicate-tool", detail);
      }
      owners.set(name, owner);
    }
  }
}

const schemas = new WeakMap<object, ReturnType<typeof asSchema>>();

/** The same tool with its schema read once, however often a run or the SDK asks for it. */
function withSchema(tool: ToolSet[string]): ToolSet[string] {
  const { inputSchema } = tool;
  if ((typeof inputSchema !== "object" && typeof inputSchema !== "function") || inputSchema === null) return tool;
  let schema = schemas.get(inputSchema);
  if (schema === undefined) {
    schema = asSchema(inputSchema);
    schemas.set(inputSchema, schema);
  }
  return { ...tool, inputSchema: schema } as ToolSet[string];
}

export interface ToolSchema {
  readonly type: "function";
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: unknown;
}

/** The same object for the same tool, also in another run: what is known of it (its tokens) isn't worked out again. */
export async function schemasOf(tools: ToolSet): Promise<readonly ToolSchema[]> {
  return Promise.all(
    Object.entries(tools).map(async ([name, tool]): Promise<ToolSchema> => {
      const inputSchema = await asSchema(tool.inputSchema).jsonSchema;
      const description = typeof tool.description === "string" ? { description: tool.description } : {};
      const last = sent.get(inputSchema);
      if (last !== undefined && last.name === name && last.description === description.description) return last;
      const schema: ToolSchema = { type: "function", name, ...description, inputSchema };
      if (typeof inputSchema === "object") sent.set(inputSchema, schema);
      return schema;
    }),
  );
}

const sent = new WeakMap<object, ToolSchema>();
