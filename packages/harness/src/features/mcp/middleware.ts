/**
 * Gives the agent the tools of the servers that the configuration names. A server that can't be reached costs a warning,
 * never the run; one that went away is connected to again by the next run or call.
 */
import type { Client } from "@modelcontextprotocol/client";
import { describeTool } from "@palimpsest/core/internal/message";
import { errorText, maskSecrets } from "@palimpsest/core/internal/text";
import { jsonSchema, type Tool, type ToolSet, tool } from "ai";
import type { Middleware } from "../../agent/run.ts";
import { directFetch } from "../../direct-fetch.ts";
import type { ConfigFile } from "../../home/schema.ts";
import { explainMissing } from "../../optional-package.ts";
import { ToolFailure } from "../workspace/tool-failure.ts";

export interface McpToolsOptions {
  /** Tools that a person allows from now on; it may grow while the agent is used. */
  readonly approved?: ReadonlySet<string> | undefined;
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

interface ConnectedServer {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly connection: McpConnection;
}

async function toolsOf(server: ConnectedServer, options: McpToolsOptions): Promise<ToolSet> {
  const { name, settings, connection } = server;
  const { onWarning } = options;
  let served: readonly ServedTool[];
  try {
    served = await connection.tools();
  } catch (error) {
    onWarning(`the MCP server ${JSON.stringify(name)} can't be used: ${maskSecrets(errorText(error))}`);
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

function toolOf({ connection }: ConnectedServer, served: ServedTool, { asks }: { readonly asks: () => boolean }): Tool {
  return tool({
    description: served.description ?? served.title ?? served.name,
    inputSchema: jsonSchema<Record<string, unknown>>(served.inputSchema as object),
    metadata: describeTool({ act: "none" }),
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

/* One server of the configuration, connected when it is first needed and again after it went away. */

type McpServerSettings = ConfigFile["mcp_servers"][string];
type ServedTool = Awaited<ReturnType<Client["listTools"]>>["tools"][number];

interface McpConnection {
  /** Throws where the server can't be reached within its time. */
  tools(): Promise<readonly ServedTool[]>;
  call(tool: string, input: Record<string, unknown>, signal: AbortSignal | undefined): ReturnType<Client["callTool"]>;
  close(): Promise<void>;
}

export function connectionTo(settings: McpServerSettings): McpConnection {
  let connected: Promise<Client> | null = null;
  const timeout = settings.timeout_seconds * 1000;
  const client = (): Promise<Client> => {
    const attempt =
      connected ??
      connect(settings, () => {
        if (connected === attempt) connected = null;
      });
    connected = attempt;
    attempt.catch(() => {
      if (connected === attempt) connected = null;
    });
    return attempt;
  };
  return {
    tools: async () => (await (await client()).listTools(undefined, { timeout })).tools,
    async call(name, input, signal) {
      const options = { timeout, resetTimeoutOnProgress: true, ...(signal !== undefined && { signal }) };
      return (await client()).callTool({ name, arguments: input }, options);
    },
    async close() {
      const one = await connected?.catch(() => null);
      connected = null;
      await one?.close();
    },
  };
}

async function connect(settings: McpServerSettings, onGone: () => void): Promise<Client> {
  const { Client, StreamableHTTPClientTransport } = await clientPackage();
  // Asking a program which protocol it speaks would start it twice; the older one is spoken by all of them.
  const mode = "url" in settings ? "auto" : "legacy";
  const client = new Client({ name: "palimpsest", version: "1" }, { versionNegotiation: { mode } });
  client.onclose = onGone;
  const timeout = settings.timeout_seconds * 1000;
  try {
    if ("url" in settings) {
      const { url, headers } = settings;
      const transport = new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers },
        fetch: directFetch(),
      });
      await client.connect(transport, { timeout });
      return client;
    }
    const { StdioClientTransport, getDefaultEnvironment } = await import("@modelcontextprotocol/client/stdio");
    const { command, args, env } = settings;
    // Only what is safe to inherit, and what was named: a server has no business with the other keys.
    const transport = new StdioClientTransport({
      command,
      args,
      env: { ...getDefaultEnvironment(), ...env },
      stderr: "ignore",
    });
    await client.connect(transport, { timeout });
    return client;
  } catch (error) {
    await client.close().catch(() => {});
    throw error;
  }
}

async function clientPackage() {
  try {
    return await import("@modelcontextprotocol/client");
  } catch (error) {
    throw explainMissing(error);
  }
}

/** What a server answers, as a model is shown it: text as it is, images as images, the rest by what it says of itself. */

/** A block of an answer, as far as it is read here. */
interface AnswerBlock {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly name?: string;
  readonly resource?: { readonly uri?: string; readonly text?: string; readonly mimeType?: string };
}

type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "file";
      readonly mediaType: string;
      readonly data: { readonly type: "data"; readonly data: string };
    };

/** `structured`: shown only where there is no other text, since it repeats the text by the protocol's rule. */
export function modelParts(blocks: readonly AnswerBlock[], structured?: unknown): readonly ModelPart[] {
  const parts = blocks.map(partOf);
  if (parts.length > 0 || structured === undefined) return parts;
  return [{ type: "text", text: JSON.stringify(structured) }];
}

export function textOf(blocks: readonly AnswerBlock[]): string {
  return modelParts(blocks)
    .map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`))
    .join("\n");
}

function partOf(block: AnswerBlock): ModelPart {
  const { type, data, mimeType = "application/octet-stream" } = block;
  if (type === "text") return { type: "text", text: block.text ?? "" };
  if (type === "image" && data !== undefined)
    return { type: "file", mediaType: mimeType, data: { type: "data", data } };
  return { type: "text", text: described(block) };
}

function described({ type, uri, name, mimeType, resource }: AnswerBlock): string {
  if (resource?.text !== undefined) return resource.text;
  const what = [name, resource?.uri ?? uri, resource?.mimeType ?? mimeType].filter(Boolean).join(" ");
  return `[${type}${what === "" ? "" : ` ${what}`}]`;
}

/** What a server's tool is called here: the server's name first, so that the log and a person who is asked see whose it is. */

/** What every provider takes. */
const LONGEST = 64;

/** Two tools that would get the same name: the later one is left out and named. */
export function toolNames(
  server: string,
  tools: readonly string[],
): { readonly names: ReadonlyMap<string, string>; readonly clashing: readonly string[] } {
  const names = new Map<string, string>();
  const clashing: string[] = [];
  for (const tool of tools) {
    const name = `${server}_${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, LONGEST);
    if (names.has(name)) clashing.push(tool);
    else names.set(name, tool);
  }
  return { names, clashing };
}
