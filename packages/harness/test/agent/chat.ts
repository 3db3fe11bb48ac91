/** What `useChat` is made of, with its state in plain fields, and a server's handler in a few lines behind it. */
import {
  AbstractChat,
  type ChatState,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import type { Agent } from "../../src/agent/agent.ts";
import { lastMessageTransport } from "../../src/ai-sdk/transport.ts";

/** What a framework's own state would hold. */
function plainState(messages: UIMessage[]): ChatState<UIMessage> {
  const state: ChatState<UIMessage> = {
    status: "ready",
    error: undefined,
    messages,
    pushMessage: (message) => void state.messages.push(message),
    popMessage: () => void state.messages.pop(),
    replaceMessage: (index, message) => void state.messages.splice(index, 1, message),
    snapshot: (value) => structuredClone(value),
  };
  return state;
}

export class Chat extends AbstractChat<UIMessage> {
  constructor(agent: Agent, messages: UIMessage[] = []) {
    super({
      id: "t",
      state: plainState(messages),
      sendAutomaticallyWhen: (options) =>
        lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
        lastAssistantMessageIsCompleteWithToolCalls(options),
      transport: lastMessageTransport({ api: "http://server/api/chat", fetch: handlerOf(agent) }),
    });
  }

  calls() {
    return this.messages.at(-1)!.parts.filter(isToolUIPart);
  }

  /** Of the last message. */
  texts(): string[] {
    return textsOf(this.messages.at(-1)!);
  }

  /** Requests that a chat makes by itself are started in a microtask of its own. */
  async settled(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (this.status === "submitted" || this.status === "streaming");
  }
}

export const textsOf = ({ parts }: UIMessage): string[] =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : []));

/** A server's routes in a few lines: `POST /api/chat` and `GET /api/chat/{id}/stream`. */
function handlerOf(agent: Agent): typeof fetch {
  return async (url, init) => {
    const request = new Request(url as string, init);
    const body =
      request.method === "POST"
        ? await request.json()
        : { id: request.url.split("/").at(-2), trigger: "resume-stream" };
    return agent.respond(body, { signal: request.signal });
  };
}
