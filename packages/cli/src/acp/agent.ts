/**
 * The agent as editors speak to it (Agent Client Protocol): a session is a thread, so that it can be listed, loaded and
 * resumed by any editor, and looked at by every other command.
 */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import {
  type AgentApp,
  type AgentContext,
  agent,
  type McpServer,
  methods,
  PROTOCOL_VERSION,
  RequestError,
} from "@agentclientprotocol/sdk";
import { checkThreadId } from "@palimpsest/core/internal/log";
import { deleteInHome } from "palimpsest/internal/assistant";
import type { Home } from "palimpsest/internal/home";
import { AcpSession, COMMANDS, folderIn } from "./session.ts";

export interface AcpOptions {
  readonly home: Home;
  readonly version: string;
  readonly warn: (text: string) => void;
}

export interface ServedAgent {
  readonly app: AgentApp;
  /** Stops what is being answered; what was said is in the log. */
  close(): Promise<void>;
}

const PAGE = 50;
const CLOSING_MS = 5_000;

export function acpAgent({ home, version, warn }: AcpOptions): ServedAgent {
  const sessions = new Map<string, AcpSession>();
  let compactions = false;

  const opened = (threadId: string, { cwd, mcpServers = [] }: Opening, client: AgentContext): AcpSession => {
    requireFolder(cwd);
    const session = new AcpSession({
      home,
      threadId,
      cwd,
      servers: mcpServers,
      compactions,
      client,
      warn,
    });
    sessions.set(threadId, session);
    // After the answer that names the session.
    const update = { sessionUpdate: "available_commands_update" as const, availableCommands: COMMANDS };
    setImmediate(
      () => void client.notify(methods.client.session.update, { sessionId: threadId, update }).catch(() => {}),
    );
    return session;
  };
  const closed = async (threadId: string) => {
    const session = sessions.get(threadId);
    sessions.delete(threadId);
    await session?.close(CLOSING_MS);
  };
  const again = async (params: Opening & { sessionId: string }, client: AgentContext): Promise<AcpSession> => {
    const { sessionId } = params;
    const known = checkThreadId(sessionId).kind !== "invalid" && (await home.store.header(sessionId)) !== undefined;
    if (!known) throw RequestError.resourceNotFound(sessionId);
    await closed(sessionId);
    return opened(sessionId, params, client);
  };

  const app = agent({ name: "palimpsest" })
    .onRequest(methods.agent.initialize, ({ params: { clientCapabilities } }) => {
      compactions = clientCapabilities?.session?.compaction != null;
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: "palimpsest", title: "Palimpsest", version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          mcpCapabilities: { http: true, sse: false },
          sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
        },
        authMethods: [],
      };
    })
    .onRequest(methods.agent.session.new, ({ params, client }) => {
      const { threadId } = opened(`acp-${randomUUID()}`, params, client);
      return { sessionId: threadId };
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      await (await again(params, client)).replay();
      return {};
    })
    .onRequest(methods.agent.session.resume, async ({ params, client }) => {
      await again(params, client);
      return {};
    })
    .onRequest(methods.agent.session.list, async ({ params: { cwd, cursor } }) => {
      const after = cursor ?? null;
      const page = await home.store.threads({ limit: PAGE, kind: "main", after: after ?? undefined });
      const listed = page.threads.map(async ({ header: { id }, title, updatedAt }) => {
        const folder = sessions.get(id)?.folder ?? folderIn((await home.store.head(id))?.state);
        // A thread of no editor can be opened in any folder.
        return { sessionId: id, cwd: folder ?? cwd ?? process.cwd(), title, updatedAt };
      });
      return { sessions: await Promise.all(listed), nextCursor: page.next };
    })
    .onRequest(methods.agent.session.delete, async ({ params: { sessionId } }) => {
      await closed(sessionId);
      await deleteInHome(home, sessionId);
      return {};
    })
    .onRequest(methods.agent.session.close, async ({ params: { sessionId } }) => {
      await closed(sessionId);
      return {};
    })
    .onRequest(methods.agent.session.prompt, ({ params: { sessionId, prompt } }) => {
      const session = sessions.get(sessionId);
      if (session === undefined) throw RequestError.resourceNotFound(sessionId);
      return session.prompt(prompt);
    })
    .onNotification(methods.agent.session.cancel, ({ params: { sessionId } }) => sessions.get(sessionId)?.cancel());
  return {
    app,
    async close() {
      await Promise.allSettled([...sessions.keys()].map(closed));
    },
  };
}

interface Opening {
  readonly cwd: string;
  readonly mcpServers?: McpServer[] | undefined;
}

/** The folder is the person's own: they have it open in their editor. */
function requireFolder(cwd: string): void {
  const isFolder = isAbsolute(cwd) && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) throw RequestError.invalidParams({ cwd }, `${cwd} is no absolute path of a folder`);
}
