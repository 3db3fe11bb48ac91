/** The servers of the Model Context Protocol that an editor brings, as our configuration writes them. */
import type { McpServer } from "@agentclientprotocol/sdk";
import type { ConfigFile } from "palimpsest/home";

type Servers = ConfigFile["mcp_servers"];

const USUAL = { enabled: true, tools: null, approval: "writes", timeout_seconds: 60 } as const;

export function editorServers(given: readonly McpServer[], warn: (text: string) => void): Servers {
  const servers: Servers = {};
  for (const one of given) {
    const name = one.name.replaceAll(/[^A-Za-z0-9_-]/g, "-");
    const settings = settingsOf(one);
    if (settings === null) warn(`the MCP server ${JSON.stringify(one.name)} is left out: ${KINDS}`);
    else servers[name] = settings;
  }
  return servers;
}

const KINDS = "a program or an HTTP address can be used, nothing else";

function settingsOf(server: McpServer): Servers[string] | null {
  if ("command" in server) {
    const { command, args, env } = server;
    return { ...USUAL, command, args, env: pairs(env) };
  }
  return "type" in server && server.type === "http"
    ? { ...USUAL, url: server.url, headers: pairs(server.headers) }
    : null;
}

function pairs(list: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}
