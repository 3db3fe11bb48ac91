/**
 * A home as a server of the Model Context Protocol: an assistant elsewhere asks here for what its own compaction threw
 * away. One server stands for one user and one connection or request; over HTTP the gateway's door decides who that is.
 */
import { McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Home } from "palimpsest/internal/home";
import { readText } from "palimpsest/internal/recall";
import { addHistoryTools, addMemoryFiles, addOperationTools, hasThread } from "./tools.ts";

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

/* Threads as resources, in parts of a fixed size: a part that is full never changes again, so a client may keep it. */

const PART = 100;
const LISTED = 50;
/** What one part says at most; a longer one ends with how to read on. */
const CHARACTERS = 400_000;

export function partOf(seq: number): number {
  return Math.max(1, Math.ceil(seq / PART));
}

export function addThreadParts(server: McpServer, home: Home): void {
  const { store } = home;
  const template = new ResourceTemplate("palimpsest://thread/{id}/part/{n}", {
    async list() {
      const { threads } = await store.threads({ limit: LISTED });
      const heads = await Promise.all(threads.map(({ header }) => store.head(header.id)));
      return {
        resources: threads.map(({ header: { id }, title, updatedAt }, at) => ({
          uri: uriOf(id, partOf(heads[at]?.version ?? 1)),
          name: title ?? id,
          description: `The newest part of the thread ${id}; earlier ones end in /part/1 and so on`,
          mimeType: "text/plain",
          annotations: { lastModified: updatedAt },
        })),
      };
    },
    complete: {
      async id(begun) {
        const { threads } = await store.threads({ limit: 200 });
        return threads.map(({ header }) => header.id).filter((id) => id.startsWith(begun));
      },
    },
  });
  server.registerResource(
    "thread part",
    template,
    { description: "What was said in a thread, a hundred records at a time, word for word", mimeType: "text/plain" },
    async (uri, { id, n }) => {
      const threadId = decodeURIComponent(String(id));
      const part = Number(n);
      if (!(await hasThread(home, threadId))) throw notFound(`there is no thread ${JSON.stringify(threadId)}`);
      const last = partOf((await store.head(threadId))?.version ?? 1);
      if (!Number.isInteger(part) || part < 1 || part > last)
        throw notFound(`the thread has the parts 1 to ${last}, not ${String(n).slice(0, 20)}`);
      const [from, to] = [(part - 1) * PART + 1, part * PART];
      const text = await readText(home, threadId, { from, to, offset: 0, characters: CHARACTERS });
      return { contents: [{ uri: uri.href, mimeType: "text/plain", text }] };
    },
  );
}

function uriOf(threadId: string, part: number): string {
  return `palimpsest://thread/${encodeURIComponent(threadId)}/part/${part}`;
}

function notFound(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
