/**
 * LangChain's messages as the log keeps them and back: instances of its classes don't outlive a process, what
 * `toDict` makes of them does. A message that wasn't changed comes back as the very object that was given.
 */
import { type BaseMessage, mapStoredMessagesToChatMessages, type StoredMessage } from "@langchain/core/messages";
import type { LangChainMessage } from "@palimpsest/core/internal/message";

/** A message of the state, ready for the log. */
export interface GivenLangChainMessage {
  readonly id: string;
  readonly message: LangChainMessage;
  /** Its JSON text. */
  readonly body: string;
  readonly original: BaseMessage;
}

/** Messages are values: one that was read once is known. */
const known = new WeakMap<BaseMessage, GivenLangChainMessage>();

export function givenMessage(original: BaseMessage, index: number): GivenLangChainMessage {
  const read = known.get(original);
  if (read !== undefined && read.id === original.id) return read;
  const { type, data } = original.toDict();
  // `toDict` spells bytes as objects of numbers; the content itself still has them.
  const body = JSON.stringify({ type, data: { ...data, content: original.content } }, bytesAsText);
  // LangGraph names every message of its state; a list that never went through it is known by its places.
  const id = original.id ?? `message-${index}`;
  const given: GivenLangChainMessage = { id, body, message: JSON.parse(body) as LangChainMessage, original };
  known.set(original, given);
  return given;
}

/** A buffer has spelled itself as numbers already when it gets here: its holder still has it. */
function bytesAsText(this: unknown, key: string, value: unknown): unknown {
  const own = (this as Readonly<Record<string, unknown>>)[key];
  return own instanceof Uint8Array ? Buffer.from(own).toString("base64") : value;
}

/** What is shown, as messages that LangChain sends. */
export function shownMessages(
  view: readonly LangChainMessage[],
  given: readonly GivenLangChainMessage[],
): BaseMessage[] {
  const byId = new Map(given.map((one) => [one.id, one]));
  return view.map((message) => {
    const was = byId.get(String(fieldsOf(message)["id"]));
    if (was !== undefined && JSON.stringify(message) === was.body) return was.original;
    const [made] = mapStoredMessagesToChatMessages([storedForm(message)]);
    return made!;
  });
}

const isStored = (message: LangChainMessage): boolean =>
  typeof message["data"] === "object" && message["data"] !== null;

const fieldsOf = (message: LangChainMessage): LangChainMessage =>
  isStored(message) ? (message["data"] as LangChainMessage) : message;

/** What we wrote ourselves (a summary, the answer to a call that got none) has its fields beside the type. */
function storedForm(message: LangChainMessage): StoredMessage {
  const { type, ...data } = message;
  return (isStored(message) ? message : { type, data }) as unknown as StoredMessage;
}
