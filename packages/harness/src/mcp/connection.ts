/** One server of the configuration, connected when it is first needed and again after it went away. */
import type { Client } from "@modelcontextprotocol/client";
import { directFetch } from "../direct-fetch.ts";
import type { ConfigFile } from "../home/schema.ts";
import { explainMissing } from "../optional-package.ts";

export type McpServerSettings = ConfigFile["mcp_servers"][string];
export type ServedTool = Awaited<ReturnType<Client["listTools"]>>["tools"][number];

export interface Connection {
  /** Throws where the server can't be reached within its time. */
  tools(): Promise<readonly ServedTool[]>;
  call(tool: string, input: Record<string, unknown>, signal: AbortSignal | undefined): ReturnType<Client["callTool"]>;
  close(): Promise<void>;
}

export function connectionTo(settings: McpServerSettings): Connection {
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
