/**
 * The summarization middleware of LangChain and of DeepAgents, as published, each as a player: messages are said to it, and
 * before every answer it shows the request it would send. Nothing of theirs is re-implemented.
 */
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import { type Loaded, loadPeers } from "../peers/load.ts";
import type { FakeSummarizer } from "./fake-summarizer.ts";

/** Hands a request to a provider; throws the peer's own overflow error when it is too long. */
type Send = (messages: readonly OpenAiMessage[]) => "accepted" | "too long";

export interface Player {
  say(message: OpenAiMessage): void;
  /** Prepares and sends one request; returns how many messages a summary has newly replaced. */
  request(send: Send): Promise<{ readonly hidden: readonly OpenAiMessage[] }>;
}

export interface PlayerOptions {
  readonly model: FakeSummarizer;
  readonly count: (messages: readonly OpenAiMessage[]) => number;
  readonly limit: number;
  /** The system prompt, which both keep outside the messages; LangChain's middleware isn't told of it. */
  readonly systems: readonly OpenAiMessage[];
  /** Where DeepAgents offloads what it hides. */
  readonly folder: string;
}

interface PeerMessage {
  readonly content: unknown;
  readonly tool_calls?: readonly { id: string; name: string; args: object }[];
  readonly tool_call_id?: string;
  getType(): string;
}

type MessageClass = new (fields: object) => PeerMessage;

interface State {
  messages: PeerMessage[];
  [key: string]: unknown;
}

type BeforeModel = (state: State, runtime: object) => Promise<{ messages: PeerMessage[] } | undefined>;

export interface LangChainMiddleware {
  readonly [module: string]: unknown;
  readonly langchain: {
    summarizationMiddleware(options: object): { beforeModel: BeforeModel };
    countTokensApproximately(messages: readonly PeerMessage[]): number;
  };
  readonly deep: {
    createSummarizationMiddleware(options: object): {
      wrapModelCall(
        request: object,
        handler: (request: { messages: PeerMessage[] }) => Promise<unknown>,
      ): Promise<object>;
    };
    FilesystemBackend: new (options: object) => object;
  };
  readonly messages: Readonly<Record<"HumanMessage" | "AIMessage" | "ToolMessage" | "SystemMessage", MessageClass>>;
  readonly errors: { ContextOverflowError: new (message: string) => Error };
}

export function loadMiddleware(): Promise<Loaded<LangChainMiddleware>> {
  return loadPeers<LangChainMiddleware>({
    langchain: "langchain",
    deep: "deepagents",
    messages: "@langchain/core/messages",
    errors: "@langchain/core/errors",
  });
}

/** `best`: an exact count, a share of the window kept, and a summarizer that may read all of it. */
export function langChainPlayer(
  peer: LangChainMiddleware,
  settings: "defaults" | "best",
  options: PlayerOptions,
): Player {
  const { model, count, limit, systems } = options;
  const exact = (messages: readonly PeerMessage[]): number => count([...systems, ...messages.map(fromPeer)]);
  const best = { keep: { fraction: 0.25 }, tokenCounter: exact, trimTokensToSummarize: limit };
  const { beforeModel } = peer.langchain.summarizationMiddleware({
    model,
    trigger: { fraction: 0.85 },
    ...(settings === "best" ? best : {}),
  });
  const state: State = { messages: [] };
  return {
    say: (message) => void state.messages.push(toPeer(peer, message)),
    async request(send) {
      const before = state.messages;
      const update = await beforeModel(state, { context: {} });
      // First comes the removal of everything, then what is there instead.
      if (update !== undefined) state.messages = update.messages.slice(1);
      send(state.messages.map(fromPeer));
      return { hidden: before.filter((message) => !state.messages.includes(message)).map(fromPeer) };
    },
  };
}

/** `better`: earlier, as its own count is an estimate, and with more kept. It has no setting for an exact count. */
export function deepAgentsPlayer(
  peer: LangChainMiddleware,
  settings: "defaults" | "better",
  { model, folder, systems }: PlayerOptions,
): Player {
  const share = (value: number) => ({ type: "fraction", value });
  const backend = new peer.deep.FilesystemBackend({ rootDir: folder, virtualMode: true });
  const middleware = peer.deep.createSummarizationMiddleware({
    model,
    backend,
    ...(settings === "better" ? { trigger: share(0.75), keep: share(0.25) } : {}),
  });
  const systemMessage = new peer.messages.SystemMessage({ content: systems.map(({ content }) => content).join("\n") });
  const state: State = { messages: [] };
  let shown: readonly PeerMessage[] = [];
  return {
    say: (message) => void state.messages.push(toPeer(peer, message)),
    async request(send) {
      const before = shown;
      const handler = async (request: { messages: PeerMessage[] }): Promise<unknown> => {
        shown = request.messages;
        if (send(shown.map(fromPeer)) === "too long") throw new peer.errors.ContextOverflowError("prompt is too long");
        return new peer.messages.AIMessage({ content: "" });
      };
      const result = await middleware.wrapModelCall(
        { messages: state.messages, state, model, systemMessage, tools: [] },
        handler,
      );
      if (!("update" in result)) return { hidden: [] };
      Object.assign(state, result.update);
      return { hidden: before.filter((message) => !shown.includes(message)).map(fromPeer) };
    },
  };
}

export function toPeer({ messages }: LangChainMiddleware, message: OpenAiMessage): PeerMessage {
  const content = message.content ?? "";
  if (message.role === "tool") return new messages.ToolMessage({ content, tool_call_id: message.tool_call_id });
  if (message.role !== "assistant")
    return new messages[message.role === "user" ? "HumanMessage" : "SystemMessage"]({ content });
  const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({
    id,
    name,
    args: parsed(args),
    type: "tool_call",
  }));
  return new messages.AIMessage({ content, tool_calls: calls });
}

function parsed(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    return { text };
  }
}

/** The same object for the same message, so that what is known of it (its tokens) isn't worked out again. */
function fromPeer(message: PeerMessage): OpenAiMessage {
  const converted = cache.get(message) ?? convert(message);
  cache.set(message, converted);
  return converted;
}

const cache = new WeakMap<PeerMessage, OpenAiMessage>();

function convert(message: PeerMessage): OpenAiMessage {
  const content = typeof message.content === "string" ? message.content : JSON.stringify(message.content);
  switch (message.getType()) {
    case "tool":
      return { role: "tool", tool_call_id: message.tool_call_id!, content };
    case "ai": {
      const calls = (message.tool_calls ?? []).map(({ id, name, args }) => ({
        id,
        type: "function" as const,
        function: { name, arguments: JSON.stringify(args) },
      }));
      return { role: "assistant", content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    }
    case "system":
      return { role: "system", content };
    default:
      return { role: "user", content };
  }
}
