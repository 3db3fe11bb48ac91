/** The class behind `useChat` with its default transport, its state in plain fields. */
import {
  AbstractChat,
  type ChatState,
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "ai";

export class Chat extends AbstractChat<UIMessage> {
  constructor(url: string, { messages = [] }: { readonly messages?: UIMessage[] } = {}) {
    const state: ChatState<UIMessage> = {
      status: "ready",
      error: undefined,
      messages,
      pushMessage: (message) => void state.messages.push(message),
      popMessage: () => void state.messages.pop(),
      replaceMessage: (index, message) => void state.messages.splice(index, 1, message),
      snapshot: (value) => structuredClone(value),
    };
    super({
      id: "t",
      state,
      transport: new DefaultChatTransport({ api: `${url}/api/chat` }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
  }

  /** All texts, message by message. */
  texts(): string[] {
    return this.messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
  }

  calls() {
    return this.messages.at(-1)!.parts.filter(isToolUIPart);
  }

  /** Once what is said so far is shown. */
  async shows(text: string): Promise<void> {
    while (this.texts().at(-1) !== text) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Requests that a chat makes by itself are started in a microtask of its own. */
  async settled(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (this.status === "submitted" || this.status === "streaming");
  }
}
