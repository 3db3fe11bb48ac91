/**
 * A home as a server of the Model Context Protocol: an assistant elsewhere asks here for what its own compaction threw
 * away. One server stands for one user and one connection or request; over HTTP the gateway's door decides who that is.
 */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Home } from "palimpsest/internal/home";
import { addHistoryTools } from "./history-tools.ts";
import { addMemoryFiles } from "./memory-files.ts";
import { addOperationTools } from "./operation-tools.ts";
import { addThreadParts } from "./thread-parts.ts";

const INSTRUCTIONS =
  "Everything ever said in the user's conversations, word for word, also what was compacted away: search it with recall, read around a hit with recall_read. What is remembered about the user: memory_search.";

export function createMcpServer(home: Home, version: string): McpServer {
  const server = new McpServer({ name: "palimpsest", version }, { instructions: INSTRUCTIONS });
  addHistoryTools(server, home);
  addOperationTools(server, home);
  addMemoryFiles(server, home);
  addThreadParts(server, home);
  return server;
}

export interface ServingMcp {
  /** The other side has gone. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** On this process's stdin and stdout. */
export function serveMcp(home: Home, version: string, onError: (text: string) => void): ServingMcp {
  const closed = new Promise<void>((resolve) => process.stdin.once("close", resolve).once("end", resolve));
  const handle = serveStdio(() => createMcpServer(home, version), { onerror: ({ message }) => onError(message) });
  return { closed, close: () => handle.close() };
}
