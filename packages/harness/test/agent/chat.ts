/** What `useChat` is made of, with its state in plain fields, and a server's handler in a few lines behind it. */
import {
  AbstractChat,
  type ChatState,
  type ChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import type { Agent } from "../../src/agent/create-agent.ts";

/** What a framework's own state would hold. */
export function plainState(messages: UIMessage[]): ChatState<UIMessage> {
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
      transport: { sendMessages: (request) => answer(agent, request), reconnectToStream: async () => null },
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

type SendRequest = Parameters<ChatTransport<UIMessage>["sendMessages"]>[0];

async function answer(agent: Agent, { chatId, messages, trigger, messageId }: SendRequest) {
  const threadId = await agent.thread(chatId).current();
  const edited = messageId !== undefined && messages.at(-1)?.role === "user";
  const run =
    trigger === "regenerate-message"
      ? agent.regenerate({ threadId, messageId })
      : edited
        ? agent.edit({ threadId, messageId, uiMessages: messages })
        : agent.stream({ threadId, uiMessages: messages });
  return run.toUIMessageStream({ originalMessages: messages });
}
