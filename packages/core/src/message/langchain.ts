/**
 * The shape of LangChain's messages, in each of their forms (`langchain-blocks.ts`). Parts stand in this order: thinking that stands
 * beside the content, content, calls. LangChain repeats calls in the provider's own words, in the content and in
 * `additional_kwargs`: those copies are no parts, and follow what happens to the calls.
 */
import { isRecord } from "../text/names.ts";
import type { DialectDefinition, MessageProblem } from "./dialects.ts";
import {
  editBlock,
  fieldsOf,
  KNOWN_BLOCKS,
  type LangChainBlock,
  type LangChainMessage,
  REPEATS,
  textBlock,
  typeOf,
  viewBlock,
  withFields,
  writeBlock,
} from "./langchain-blocks.ts";
import { googleRules } from "./rules.ts";
import {
  blocksOf,
  contentFrom,
  editingSlots,
  expected,
  type Fields,
  fields,
  inputObject,
  inputText,
  inputValue,
  joinContent,
  list,
  notAnObject,
  optional,
  result,
  resultOf,
  resultsApart,
  sameContent,
  strangeBlock,
  string,
  textOr,
  thought as thinking,
  typed,
} from "./schema.ts";
import type { CallPart, Part, ReasoningPart, ResultPart, Role, Shape } from "./shape.ts";

export const langchainShape: Shape<LangChainMessage> = {
  dialect: "langchain",
  role,
  wireRole: role,
  ...editingSlots({ slots, edit, rebuild }),
  make,
  turn: (role, content) => ({ type: TYPES[role], content }),
  mark: (message, source) =>
    withFields(message, {
      additional_kwargs: { ...(fieldsOf(message)["additional_kwargs"] as object), lc_source: source },
    }),
  results: (answers) => answers.map((answer) => resultMessage(result(answer))),
  join(first, second) {
    if (role(first) === "tool") throw new TypeError("LangChain wants each tool result in a message of its own.");
    const content = joinContent(contentOf(first), contentOf(second), textBlock);
    const joined = rebuild(first, [...slots(first), ...slots(second)]);
    return typeof content === "string" ? withFields(joined, { content }) : joined;
  },
};

const TYPES = { system: "system", user: "human", assistant: "ai", tool: "tool" } as const;

const ROLES: Readonly<Record<string, Role>> = {
  human: "user",
  user: "user",
  ai: "assistant",
  assistant: "assistant",
  system: "system",
  developer: "system",
  tool: "tool",
  function: "tool",
};

/** A message of another type, such as one of a role that somebody made up, is the user's. */
function role(message: LangChainMessage): Role {
  const type = typeOf(message);
  const own = type === "chat" || type === "generic" ? fieldsOf(message)["role"] : type;
  return (typeof own === "string" ? ROLES[own] : undefined) ?? "user";
}

type Content = string | readonly (LangChainBlock | string)[];

const contentOf = (message: LangChainMessage): string | readonly LangChainBlock[] => {
  const content = (fieldsOf(message)["content"] ?? "") as Content;
  return typeof content === "string"
    ? content
    : content.map((block) => (typeof block === "string" ? textBlock(block) : block));
};

const blocksIn = (message: LangChainMessage): readonly LangChainBlock[] => blocksOf(contentOf(message), textBlock);

/** A part and the piece of the message it was read from. */
type ChainSlot =
  | { readonly at: "thinking"; readonly part: ReasoningPart }
  | { readonly at: "content"; readonly part: Part; readonly block: LangChainBlock }
  | { readonly at: "call"; readonly part: CallPart; readonly call: Fields }
  | { readonly at: "result"; readonly part: ResultPart };

function slots(message: LangChainMessage): readonly ChainSlot[] {
  if (role(message) === "tool") return [{ at: "result", part: viewResult(message) }];
  const calls = callsOf(message);
  const thought = thinkingOf(message);
  const content = blocksIn(message).filter((block) => !isRepeat(block, calls));
  return [
    ...(thought === "" ? [] : [{ at: "thinking", part: thinking(thought) } as const]),
    ...content.map((block): ChainSlot => ({ at: "content", part: viewBlock(block), block })),
    ...calls,
  ];
}

const isRepeat = (block: LangChainBlock, calls: readonly unknown[]): boolean =>
  calls.length > 0 && REPEATS.includes(block.type ?? "");

const thinkingOf = (message: LangChainMessage): string => {
  const beside = (fieldsOf(message)["additional_kwargs"] as Fields | undefined)?.["reasoning_content"];
  return typeof beside === "string" ? beside : "";
};

/** Calls whose arguments were no JSON are sent to the provider like the others, and have to be answered like them. */
function callsOf(message: LangChainMessage): readonly (ChainSlot & { at: "call" })[] {
  if (role(message) !== "assistant") return [];
  const { tool_calls, invalid_tool_calls, additional_kwargs } = fieldsOf(message);
  const own = [...listOf(tool_calls), ...listOf(invalid_tool_calls)];
  const given =
    own.length > 0 ? own : listOf((additional_kwargs as Fields | undefined)?.["tool_calls"]).map(fromOpenAi);
  return given.map((call) => ({ at: "call", call, part: viewCall(call) }));
}

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as Fields[]) : []);

function fromOpenAi(call: Fields): Fields {
  const { name, arguments: args } = (call["function"] ?? {}) as Fields;
  return { type: "tool_call", id: call["id"], name, args: inputValue(String(args ?? "")) };
}

const viewCall = ({ id, name, args }: Fields): CallPart => ({
  kind: "call",
  id: typeof id === "string" ? id : `function:${String(name)}`,
  name: String(name),
  input: typeof args === "string" ? args : inputText(args ?? {}),
});

const answerId = (message: LangChainMessage): string => {
  const { tool_call_id, name } = fieldsOf(message);
  return typeof tool_call_id === "string" ? tool_call_id : `function:${String(name ?? "")}`;
};

function viewResult(message: LangChainMessage): ResultPart {
  const inside = blocksIn(message).map(viewBlock);
  const { name, status } = fieldsOf(message);
  return resultOf(inside, {
    id: answerId(message),
    name: typeof name === "string" ? name : null,
    isError: status === "error",
  });
}

function edit(slot: ChainSlot, part: Part): ChainSlot {
  switch (slot.at) {
    case "content":
      return { ...slot, part, block: editBlock(slot.block, part) };
    case "call":
      return part.kind === "call" ? { ...slot, part, call: editCall(slot.call, part) } : slot;
    default:
      return { ...slot, part } as ChainSlot; // the same kind: assertReplaceable has seen to it
  }
}

function editCall(call: Fields, part: CallPart): Fields {
  const args = call["type"] === "invalid_tool_call" ? part.input : inputObject(part.input);
  return { ...call, ...(part.id !== viewCall(call).id && { id: part.id }), name: part.name, args };
}

/** Sets the fields that the slots were read from; all others are left as they were given. */
function rebuild(message: LangChainMessage, chosen: readonly ChainSlot[]): LangChainMessage {
  if (role(message) === "tool") return rebuildResult(message, chosen);
  const at = <K extends ChainSlot["at"]>(place: K) =>
    chosen.filter((slot): slot is ChainSlot & { at: K } => slot.at === place);
  const calls = at("call").map(({ call }) => call);
  const isInvalid = (call: Fields): boolean => call["type"] === "invalid_tool_call";
  const fields = fieldsOf(message);
  const blocks = at("content").map(({ block }) => block);
  return withFields(message, {
    content: contentWith(fields["content"], blocks, callBlocks(message, calls)),
    ...listField(
      fields,
      "tool_calls",
      calls.filter((call) => !isInvalid(call)),
    ),
    ...listField(fields, "invalid_tool_calls", calls.filter(isInvalid)),
    ...besides(
      fields,
      at("thinking")
        .map(({ part }) => part.text)
        .join("\n\n"),
      calls,
    ),
  });
}

/** The provider's own words for the calls that are left, with their input as it is now. */
function callBlocks(message: LangChainMessage, calls: readonly Fields[]): readonly LangChainBlock[] {
  const left = new Map(calls.map((call) => [viewCall(call).id, call]));
  return blocksIn(message).flatMap((block) => {
    const call = REPEATS.includes(block.type ?? "") ? left.get(String(block["id"] ?? block["call_id"])) : undefined;
    if (call === undefined) return [];
    if ("args" in block) return [{ ...block, args: call["args"] }];
    if ("input" in block) return [{ ...block, input: call["args"] }];
    return "arguments" in block ? [{ ...block, arguments: viewCall(call).input }] : [block];
  });
}

function contentWith(was: unknown, blocks: readonly LangChainBlock[], repeats: readonly LangChainBlock[]): Content {
  const only = blocks.length === 1 ? blocks[0]! : null;
  if (typeof was !== "string") return [...blocks, ...repeats];
  if (only?.type === "text" && typeof only["text"] === "string") return only["text"];
  return blocks.length === 0 ? "" : blocks;
}

const listField = (fields: Fields, name: string, calls: readonly Fields[]): Fields =>
  calls.length > 0 || listOf(fields[name]).length > 0 ? { [name]: calls } : {};

/** What stands beside the content: thinking, and the calls as OpenAI wrote them. */
function besides(fields: Fields, thought: string, calls: readonly Fields[]): Fields {
  const was = fields["additional_kwargs"] as Fields | undefined;
  const hadThought = typeof was?.["reasoning_content"] === "string";
  const copies = listOf(was?.["tool_calls"]);
  if (thought === "" && !hadThought && copies.length === 0) return {};
  const left = new Map(calls.map((call) => [viewCall(call).id, viewCall(call)]));
  const kept = copies.flatMap((copy) => {
    const call = left.get(String(copy["id"]));
    if (call === undefined) return [];
    const named = copy["function"] as Fields;
    return [named["arguments"] === call.input ? copy : { ...copy, function: { ...named, arguments: call.input } }];
  });
  return {
    additional_kwargs: {
      ...was,
      ...((thought !== "" || hadThought) && { reasoning_content: thought }),
      ...(copies.length > 0 && { tool_calls: kept }),
    },
  };
}

function rebuildResult(message: LangChainMessage, chosen: readonly ChainSlot[]): LangChainMessage {
  const part = chosen[0]?.part;
  if (part?.kind !== "result") return withFields(message, { content: "" });
  const was = viewResult(message);
  const id = was.id === part.id ? {} : { tool_call_id: part.id };
  if (sameContent(part, was)) return withFields(message, id);
  return withFields(message, {
    ...id,
    content: resultContent(part),
    ...(part.isError !== was.isError && statusOf(part)),
  });
}

const statusOf = ({ isError }: ResultPart): Fields => ({ status: isError ? "error" : "success" });

function resultContent({ text: words, images }: ResultPart): Content {
  return images.length === 0 ? words : [...blocksOf(words, textBlock), ...images.map(writeBlock)];
}

const resultMessage = (part: ResultPart): LangChainMessage => ({
  type: "tool",
  content: resultContent(part),
  tool_call_id: part.id,
  ...(part.name !== null && { name: part.name }),
  ...(part.isError && statusOf(part)),
});

/** A tool message holds one result: what else there is follows in a human's. */
function make(role: Role, parts: readonly Part[]): readonly LangChainMessage[] {
  if (role === "assistant") return [makeAi(parts)];
  if (role !== "tool") return [{ type: TYPES[role], content: contentFrom(parts, writeBlock) }];
  return resultsApart(
    parts,
    (results) => results.map(resultMessage),
    (rest) => make("user", rest),
  );
}

function makeAi(parts: readonly Part[]): LangChainMessage {
  const calls = parts.filter((part) => part.kind === "call");
  const said = parts.filter((part) => part.kind !== "call");
  const content = contentFrom(said, writeBlock);
  return { type: "ai", content, ...(calls.length > 0 && { tool_calls: calls.map(writeCall) }) };
}

const writeCall = ({ id, name, input }: CallPart): Fields => ({
  name,
  args: inputObject(input),
  id,
  type: "tool_call",
});

const CHECKED_TYPES = ["human", "ai", "system", "tool", "function", "chat", "generic", "developer"];

const block = textOr(
  typed({
    text: fields({ text: string }),
    input_text: fields({ text: string }),
    output_text: fields({ text: string }),
    refusal: fields({ refusal: string }),
    thinking: fields({ thinking: string, signature: optional(string) }),
    redacted_thinking: fields({ data: string }),
    reasoning: fields({ reasoning: optional(string) }),
  }),
);

const calls = list(fields({ name: optional(string), id: optional(string) }));

function check(value: unknown): MessageProblem | null {
  if (!isRecord(value)) return notAnObject(value);
  const type = typeOf(value);
  if (!CHECKED_TYPES.includes(type)) {
    return {
      problem: "unknown-role",
      detail: `type is ${JSON.stringify(type.slice(0, 40))}; langchain messages have ${CHECKED_TYPES.join(", ")}`,
    };
  }
  const messageFields = fieldsOf(value);
  const { content } = messageFields;
  if (typeof content !== "string" && !Array.isArray(content) && !(content == null && hasCalls(messageFields))) {
    return { problem: "bad-content", detail: expected("text or a list of blocks", content, "content") };
  }
  const badBlock = Array.isArray(content) ? list(block)(content, "content") : null;
  if (badBlock !== null) return { problem: "bad-block", detail: badBlock };
  const badField =
    HELD(messageFields, "") ?? (type === "tool" ? fields({ tool_call_id: string })(messageFields, "") : null);
  return badField === null ? null : { problem: "bad-field", detail: badField };
}

const HELD = fields({
  tool_calls: optional(calls),
  invalid_tool_calls: optional(calls),
  additional_kwargs: optional(
    fields({
      tool_calls: optional(
        list(fields({ id: optional(string), function: fields({ name: string, arguments: string }) })),
      ),
    }),
  ),
});

const hasCalls = ({ tool_calls, additional_kwargs }: Fields): boolean =>
  (Array.isArray(tool_calls) && tool_calls.length > 0) ||
  (isRecord(additional_kwargs) && (additional_kwargs["tool_calls"] ?? additional_kwargs["function_call"]) != null);

function mark(value: Fields): string | null {
  if (typeof value["role"] === "string" && value["type"] === undefined) return null;
  if (typeof value["lc"] === "number" && Array.isArray(value["id"])) return "the field lc";
  const messageFields = fieldsOf(value);
  return CHECKED_TYPES.includes(typeOf(value)) && "content" in messageFields ? `the type ${typeOf(value)}` : null;
}

export const langchain: DialectDefinition<LangChainMessage> = {
  shape: langchainShape,
  // LangChain speaks to any provider: the order must suit the strictest.
  rules: googleRules,
  check,
  mark,
  unknownBlock(value) {
    const { content } = fieldsOf(value);
    const blocks = Array.isArray(content)
      ? content.map((one) => (typeof one === "string" ? { type: "text" } : one))
      : [];
    return strangeBlock(blocks, { name: "langchain", types: KNOWN_BLOCKS });
  },
  model: "gpt-4o",
  carries: (signer) => signer === "anthropic",
  resultsIn: "tool",
  control: [],
};
