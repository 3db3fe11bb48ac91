/** Who speaks: the name a client gives itself, made safe to be kept as the source of a fact. */
import { CLIENT_INFO_META_KEY, type McpServer, type ServerContext } from "@modelcontextprotocol/server";

/** Newer clients name themselves with every request, older ones once when they connect, some never. */
export function factSource(server: McpServer, { mcpReq }: ServerContext): string {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return sourceOf(envelope[CLIENT_INFO_META_KEY] ?? server.server.getClientVersion());
}

export function sourceOf(client: unknown): string {
  const name = typeof client === "object" && client !== null && "name" in client ? client.name : null;
  const plain = typeof name === "string" ? name.replaceAll(/[^\w.-]+/g, "-").slice(0, 64) : "";
  return plain === "" ? "mcp" : `mcp:${plain}`;
}
