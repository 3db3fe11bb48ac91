/**
 * Gives the agent the tools of the servers that the configuration names. A server that can't be reached costs a warning,
 * never the run; one that went away is connected to again by the next run or call.
 */
import { errorText } from "@palimpsest/core/internal/text";
import { jsonSchema, type Tool, type ToolSet, tool } from "ai";
import type { Middleware } from "../agent/middleware.ts";
import type { ConfigFile } from "../home/schema.ts";
import { toolFacts } from "../tool-facts.ts";
import { ToolFailure } from "../workspace/tool-failure.ts";
import { type AnswerBlock, modelParts, textOf } from "./answer.ts";
import { type Connection, connectionTo, type McpServerSettings, type ServedTool } from "./connection.ts";
import { toolNames } from "./tool-name.ts";

export interface McpToolsOptions {
  /** Tools that a person allows from now on; it may grow while the agent is used. */
  readonly approved?: ReadonlySet<string>;
  readonly onWarning: (text: string) => void;
}

/** Null where none is configured. To be closed with the agent: servers are processes or connections. */
export function mcpTools(servers: ConfigFile["mcp_servers"], options: McpToolsOptions): Middleware | null {
  const named = Object.entries(servers).filter(([, { enabled }]) => enabled);
  if (named.length === 0) return null;
  const connections = named.map(
    ([name, settings]) => ({ name, settings, connection: connectionTo(settings) }) as const,
  );
  return {
    name: "mcp",
    async tools() {
      const sets = await Promise.all(connections.map((one) => toolsOf(one, options)));
      return Object.assign({}, ...sets) as ToolSet;
    },
    async close() {
      await Promise.allSettled(connections.map(({ connection }) => connection.close()));
    },
  };
}

interface Server {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly connection: Connection;
}

async function toolsOf(server: Server, options: McpToolsOptions): Promise<ToolSet> {
  const { name, settings, connection } = server;
  const { onWarning } = options;
  let served: readonly ServedTool[];
  try {
    served = await connection.tools();
  } catch (error) {
    onWarning(`the MCP server ${JSON.stringify(name)} can't be used: ${errorText(error)}`);
    return {};
  }
  const wanted = settings.tools;
  for (const missing of wanted?.filter((one) => !served.some((tool) => tool.name === one)) ?? [])
    onWarning(`mcp_servers.${name}.tools names ${JSON.stringify(missing)}, which the server doesn't have`);
  const used = served.filter((one) => wanted === null || wanted.includes(one.name));
  const { names, clashing } = toolNames(
    name,
    used.map((one) => one.name),
  );
  for (const tool of clashing) onWarning(`the tool ${tool} of the MCP server ${name} is left out: its name is taken`);
  const tools = [...names].map(([known, own]) => {
    const definition = used.find((one) => one.name === own)!;
    return [known, toolOf(server, definition, { asks: asks(settings, definition, known, options) })] as const;
  });
  return Object.fromEntries(tools);
}

/** Asked at each call, since a person may allow it meanwhile. */
function asks(
  { approval }: McpServerSettings,
  { annotations }: ServedTool,
  name: string,
  { approved = new Set() }: McpToolsOptions,
): () => boolean {
  const isAsked = approval === "all" || (approval === "writes" && annotations?.readOnlyHint !== true);
  return () => isAsked && !approved.has(name);
}

function toolOf({ connection }: Server, served: ServedTool, { asks }: { readonly asks: () => boolean }): Tool {
  return tool({
    description: served.description ?? served.title ?? served.name,
    inputSchema: jsonSchema<Record<string, unknown>>(served.inputSchema as object),
    metadata: toolFacts({ act: "none" }),
    needsApproval: asks,
    async execute(input, { abortSignal }) {
      const { content, structuredContent, isError } = await connection.call(served.name, input, abortSignal);
      const blocks: readonly AnswerBlock[] = content as readonly AnswerBlock[];
      if (isError === true) throw new ToolFailure(textOf(blocks));
      const [first, ...rest] = modelParts(blocks, structuredContent);
      return first?.type === "text" && rest.length === 0
        ? first.text
        : [first, ...rest].filter((one) => one !== undefined);
    },
    toModelOutput: ({ output }) =>
      typeof output === "string" ? { type: "text", value: output } : { type: "content", value: [...output] as never },
  });
}
