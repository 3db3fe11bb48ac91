/**
 * The three forms of a LangChain message: its fields themselves (`{type: "human", content}`, also an instance of one of its
 * classes), the fields under `data` (`messages_to_dict`), and the fields under `kwargs` (`dumpd`, JSON of an instance).
 * Everything else reads the fields and doesn't know the form; an edit is put back in the form it came in.
 */
type Fields = Readonly<Record<string, unknown>>;

export type LangChainMessage = Fields;

export function fieldsOf(message: LangChainMessage): Fields {
  if (isConstructor(message)) return message["kwargs"] as Fields;
  return isDict(message) ? (message["data"] as Fields) : message;
}

/** The message with other fields; null takes a field away. An instance stays one of its class. */
export function withFields(message: LangChainMessage, changes: Fields): LangChainMessage {
  const fields = fieldsOf(message);
  if (fields !== message) return { ...message, [isConstructor(message) ? "kwargs" : "data"]: changed(fields, changes) };
  const prototype = Object.getPrototypeOf(message) as object | null;
  if (prototype === null || prototype === Object.prototype) return changed(message, changes);
  return Object.assign(Object.create(prototype) as object, changed(message, changes)) as LangChainMessage;
}

function changed(fields: Fields, changes: Fields): Fields {
  const merged = Object.entries({ ...fields, ...changes });
  return Object.fromEntries(
    merged.filter(([name]) => !(name in changes) || changes[name] !== null || name === "content"),
  );
}

/** `human`, `ai`, `system`, `tool`, `function`, ...: what the message is, whatever its form says it with. */
export function typeOf(message: LangChainMessage): string {
  const path = isConstructor(message) ? (message["id"] as readonly unknown[]) : null;
  const own = path === null ? typeOfInstance(message) : path.at(-1);
  if (typeof own !== "string") return "";
  return /Message(Chunk)?$/.test(own) ? classType(own) : own;
}

/** `AIMessageChunk` is `ai`. */
const classType = (name: string): string => name.replace(/Message(Chunk)?$/, "").toLowerCase();

function typeOfInstance(message: LangChainMessage): unknown {
  for (const name of ["getType", "_getType"]) {
    const ask = message[name];
    if (typeof ask === "function") return (ask as () => unknown).call(message);
  }
  return message["type"];
}

const isConstructor = ({ lc, id, kwargs }: Fields): boolean =>
  typeof lc === "number" && Array.isArray(id) && typeof kwargs === "object" && kwargs !== null;

const isDict = ({ type, data, content }: Fields): boolean =>
  typeof type === "string" && content === undefined && typeof data === "object" && data !== null;
