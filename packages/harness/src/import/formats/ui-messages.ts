/** The AI SDK's UI messages, as pages and databases keep them: read as model messages. */
import { isUiMessage } from "@palimpsest/core/internal/message";
import { readUiMessages } from "@palimpsest/core/message";
import type { ImportedConversation } from "../conversation.ts";
import { timeOf } from "../time.ts";
import { type Format, madeMessage, notesOf, type PlacedValue } from "./format.ts";

export const uiMessages: Format = {
  name: "AI SDK UI messages",
  recognizes: (value) => isUiMessage(value) || heldIn(value) !== null,
  read(values) {
    const whole = values.flatMap(({ value, place }) => {
      const list = heldIn(value);
      return list === null ? [] : [conversation(list, place)];
    });
    const loose = values.filter(({ value }) => isUiMessage(value));
    const all = loose.length === 0 ? whole : [...whole, conversation(loose, "")];
    return {
      conversations: all.map((one) => one.conversation),
      skipped: values.length - whole.length - loose.length,
      notes: all.flatMap((one) => one.notes),
    };
  },
};

/** A chat as an application stores it: an object with its messages. */
function heldIn(value: PlacedValue["value"]): readonly PlacedValue[] | null {
  const { messages } = value;
  if (!Array.isArray(messages) || !messages.some(isUiMessage)) return null;
  return messages.map((message, index) => ({ value: message, place: `message ${index + 1}` }));
}

function conversation(values: readonly PlacedValue[], place: string) {
  const { messages, origins, lost } = readUiMessages(values.map(({ value }) => value));
  const conversationRead: ImportedConversation = {
    place,
    messages: messages.map((message, index) => {
      const from = values[origins[index]!]!;
      return madeMessage(message, { place: from.place, at: timeOf(from.value["createdAt"]) });
    }),
    request: null,
    questions: [],
  };
  return {
    conversation: conversationRead,
    notes: notesOf(
      place,
      lost.map(({ type, reason }) => `${type}: ${reason}`),
    ),
  };
}
