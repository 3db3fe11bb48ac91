/**
 * The browser's side of a chat whose thread the server has: `useChat` sends the last message and not all of them, each time.
 * For a page: imports nothing but `ai`.
 */
import { DefaultChatTransport, type HttpChatTransportInitOptions, type UIMessage } from "ai";

export type ChatTransportOptions<M extends UIMessage = UIMessage> = Omit<
  HttpChatTransportInitOptions<M>,
  "prepareSendMessagesRequest"
>;

/** `useChat({ transport: lastMessageTransport({ api: "/api/chat" }) })`. */
export function lastMessageTransport<M extends UIMessage = UIMessage>(
  options: ChatTransportOptions<M> = {},
): DefaultChatTransport<M> {
  return new DefaultChatTransport<M>({
    ...options,
    prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => ({
      body: { ...body, id, messages: messages.slice(-1), trigger, messageId },
    }),
  });
}
