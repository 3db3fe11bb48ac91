/** The AI SDK's UI messages, as pages and databases keep them: read as model messages. */
import { isUiMessage, readUiMessages } from "@palimpsest/core/internal/message";
import { type ImportPiece, openedThread } from "../piece.ts";
import { timeOf } from "../time.ts";
import { type Format, type FormatFields, madeMessage, type PieceReader } from "./format.ts";

export const uiMessages: Format = {
  id: "ui-messages",
  name: "AI SDK UI messages",
  dialect: "ai-sdk",
  recognizes: (value) => isUiMessage(value) || heldIn(value) !== null,
  open: openChat,
};

/** A message stands by itself, or in a chat as an application stores it: an object with its messages. */
function openChat(): PieceReader {
  let isOpen = false;
  return {
    *read({ value, place }) {
      const list = heldIn(value);
      if (list !== null) {
        const key = place === "" ? "chat" : place;
        yield openedThread(key, { place });
        yield* said(list, { key, placeOf: (index) => `message ${index + 1}`, place });
        yield { kind: "end", key };
      } else if (isUiMessage(value)) {
        if (!isOpen) yield openedThread("");
        isOpen = true;
        yield* said([value], { key: "", placeOf: () => place, place: "" });
      } else yield { kind: "skipped" };
    },
    *end() {},
  };
}

function heldIn({ messages }: FormatFields): readonly FormatFields[] | null {
  return Array.isArray(messages) && messages.some(isUiMessage) ? messages : null;
}

interface UiMessageSaid {
  readonly key: string;
  readonly place: string;
  readonly placeOf: (index: number) => string;
}

function* said(values: readonly FormatFields[], { key, place, placeOf }: UiMessageSaid): Iterable<ImportPiece> {
  const { messages, origins, lost } = readUiMessages(values);
  for (const [index, message] of messages.entries()) {
    const from = origins[index]!;
    const at = timeOf(values[from]!["createdAt"]);
    yield { kind: "message", key, message: madeMessage(message, { place: placeOf(from), at }) };
  }
  for (const { type, reason } of lost) yield { kind: "left", place, what: `${type}: ${reason}` };
}
