/**
 * One thread of a graph, kept in step with the graph's state: what is new is appended, and a state that went another way (an
 * edit, a checkpoint gone back to) goes on in a fork, so that the model is shown what the state says and the log keeps both.
 */
import { parseHeader } from "@palimpsest/core/internal/log";
import { type LangChainMessage, shapeOf } from "@palimpsest/core/internal/message";
import { heldText } from "palimpsest/internal/stores";
import { continuations, continueThread, type NamedConversation, writeWhereItStands } from "palimpsest/internal/threads";
import {
  type OpenedThread,
  type OpenThread,
  type OpenThreadOptions,
  openThread,
  type RecordInput,
  type ThreadDeps,
  threadDeps,
} from "palimpsest/session";
import type { GivenLangChainMessage } from "./messages.ts";
import { difference, type Logged } from "./reconcile.ts";

export type AdaptedConversationOptions = Omit<OpenThreadOptions<LangChainMessage>, "shape" | "hold">;

export interface LangChainConversation {
  readonly deps: ThreadDeps;
  /** The thread, saying what the state says. */
  inStep(state: readonly GivenLangChainMessage[]): Promise<OpenThread<LangChainMessage>>;
  /** Where it stands. */
  threadId(): Promise<string>;
  close(): Promise<void>;
}

const SHAPE = shapeOf("langchain");
const WAIT_MS = 5_000;

export function openConversation(options: AdaptedConversationOptions): LangChainConversation {
  const { id: name, store, userId = store.userId, waitMs = WAIT_MS } = options;
  const deps = threadDeps(userId === store.userId ? store : store.forUser(userId), options.deps);
  const conversation: NamedConversation = { ...deps, name, waitMs };
  const log = messageLog(conversation);
  const hashOf = remembered(({ body }: GivenLangChainMessage) => deps.hash(body));
  let open: OpenThread<LangChainMessage> | null = null;
  const current = async (): Promise<string> => (await continuations(conversation)).at(-1)!;

  const opened = async (): Promise<OpenThread<LangChainMessage>> => {
    const id = await current();
    if (open?.id === id) return open;
    await open?.close();
    const result = await openThread({ ...options, id, shape: SHAPE });
    if (result.kind !== "open") throw new Error(`thread ${id} can't be opened: ${problemOf(result)}`);
    open = result.thread;
    return open;
  };

  const compared = async (threadId: string, state: readonly GivenLangChainMessage[]) =>
    difference(
      await log(threadId),
      state.map((given) => ({ id: given.id, bodyHash: hashOf(given) })),
    );

  const branch = async (threadId: string, state: readonly GivenLangChainMessage[]): Promise<void> => {
    const written = await writeWhereItStands(conversation, threadId, async (writer) => {
      const found = await compared(threadId, state);
      if (found.kind === "append") return;
      const say = state.slice(found.from).map(messageInput);
      const outcome = await continueThread(conversation, writer, { keep: found.keep, say });
      if (outcome === "lost") throw new Error(`thread ${threadId} was taken over while it was written to: try again`);
    });
    if (written.kind === "busy")
      throw new Error(`thread ${threadId} is held by somebody else${heldText(written)}: try later`);
  };

  return {
    deps,
    threadId: current,
    async inStep(state) {
      for (;;) {
        const thread = await opened();
        const found = await compared(thread.id, state);
        if (found.kind === "append") {
          const rest = state.slice(found.from);
          if (rest.length > 0) await thread.append(rest.map(({ id, message }) => ({ id, message })));
          return thread;
        }
        await branch(thread.id, state);
      }
    },
    close: async () => open?.close(),
  };
}

function problemOf(result: Exclude<OpenedThread<LangChainMessage>, { readonly kind: "open" }>): string {
  return "problem" in result ? result.problem : result.kind;
}

/** The same messages come again with every step. */
function remembered<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

const ORIGINS = { user: "user", assistant: "model", tool: "tool", system: "injected" } as const;

const messageInput = ({ id, body, message }: GivenLangChainMessage): RecordInput => ({
  kind: "message",
  id,
  dialect: "langchain",
  origin: ORIGINS[SHAPE.role(message)],
  body,
});

/** Which messages a thread's log holds, without their bodies: read once, and from then on what was added. */
function messageLog({ store }: NamedConversation): (threadId: string) => Promise<readonly Logged[]> {
  let [of, version]: [string | null, number] = [null, 0];
  let logged: Logged[] = [];
  return async (threadId) => {
    const now = (await store.head(threadId))?.version ?? 0;
    if (of !== threadId || now < version) [of, version, logged] = [threadId, 0, []];
    if (now > version) {
      const query = { range: [version + 1, now], kinds: ["message"], bodies: "none" } as const;
      for await (const { chained } of store.records(threadId, query)) {
        const header = parseHeader(chained);
        if (header.kind === "message") logged.push({ id: header.id, seq: chained.seq, bodyHash: chained.bodyHash });
      }
    }
    version = now;
    return logged;
  };
}
