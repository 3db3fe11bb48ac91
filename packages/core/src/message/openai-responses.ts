/**
 * The shape of OpenAI's Responses API. The API's input is a flat list of items, and one answer is several of them: thoughts,
 * text, calls. Here a message is one turn: an item, or the list of the items that belong together, so that a thought is
 * never parted from the call it led to. `responsesTurns` gathers a flat list into turns, `responsesItems` gives the flat list back.
 */
import { isRecord } from "../text/names.ts";
import type { DialectDefinition, MessageProblem } from "./dialects.ts";
import type { ResponsesBlock, ResponsesItem } from "./openai-responses-items.ts";
import * as items from "./openai-responses-items.ts";
import { openaiResponsesRules } from "./rules.ts";
import {
  type Check,
  contentFrom,
  editingSlots,
  type Fields,
  fields,
  joinContent,
  list,
  markedBlock,
  messageCheck,
  notAnObject,
  optional,
  result,
  resultsApart,
  strangeBlock,
  string,
  textOr,
  typed,
} from "./schema.ts";
import type { Part, Role, Shape } from "./shape.ts";

export type ResponsesMessage = ResponsesItem | readonly ResponsesItem[];

export const responsesShape: Shape<ResponsesMessage> = {
  dialect: "openai-responses",
  role,
  wireRole: role,
  ...editingSlots({ slots, edit, rebuild }),
  make,
  turn: (role, content) => ({ role, content }),
  results: (answers) => make("tool", answers.map(result)),
  join,
};

/** A flat list of items as turns: what the assistant did without a break is one. A lone item stays as it is. */
export function responsesTurns(list: readonly ResponsesItem[]): readonly ResponsesMessage[] {
  const turns: ResponsesItem[][] = [];
  for (const item of list) {
    const last = turns.at(-1);
    if (last !== undefined && together(last[0]!, item)) last.push(item);
    else turns.push([item]);
  }
  return turns.map(turnOf);
}

/** Whether two items that follow each other are of one answer. */
const together = (first: ResponsesMessage, second: ResponsesMessage): boolean =>
  [first, second].every((one) => !Array.isArray(one) && items.roleOf(one as ResponsesItem) === "assistant");

/** The items of these turns, as the API takes them. */
export function responsesItems(messages: readonly ResponsesMessage[]): readonly ResponsesItem[] {
  return messages.flatMap((message) => listOf(message));
}

const turnOf = (list: readonly ResponsesItem[]): ResponsesMessage => (list.length === 1 ? list[0]! : list);

const listOf = (message: ResponsesMessage): readonly ResponsesItem[] =>
  Array.isArray(message) ? message : [message as ResponsesItem];

function role(message: ResponsesMessage): Role {
  const first = listOf(message)[0];
  return first === undefined ? "assistant" : items.roleOf(first);
}

/** A part and the item it was read from; `block` where the item is a message of several. */
interface ResponsesSlot {
  readonly part: Part;
  readonly item: ResponsesItem;
  readonly block: ResponsesBlock | null;
}

function slots(message: ResponsesMessage): readonly ResponsesSlot[] {
  return listOf(message).flatMap((item): readonly ResponsesSlot[] => {
    if (!items.isMessage(item)) return [{ part: items.viewItem(item), item, block: null }];
    return items.blocksIn(item).map((block) => ({ part: items.viewBlock(block), item, block }));
  });
}

function edit({ item, block }: ResponsesSlot, part: Part): ResponsesSlot {
  if (block !== null) return { part, item, block: items.editBlock(block, part, items.roleOf(item)) };
  return { part, item: items.editItem(item, part), block: null };
}

/** Neighboring slots of one message item stay one item. Empty items are dropped, except a lone message. */
function rebuild(message: ResponsesMessage, chosen: readonly ResponsesSlot[]): ResponsesMessage {
  const runs: ResponsesSlot[][] = [];
  for (const slot of chosen) {
    const last = runs.at(-1);
    if (slot.block !== null && last?.[0]?.item === slot.item) last.push(slot);
    else runs.push([slot]);
  }
  const rebuilt = runs.map(([first, ...rest]) =>
    first!.block === null ? first!.item : withBlocks(first!.item, [first!, ...rest]),
  );
  if (rebuilt.length > 0) return Array.isArray(message) && rebuilt.length > 1 ? rebuilt : turnOf(rebuilt);
  const [only] = listOf(message);
  return only !== undefined && items.isMessage(only) ? { ...only, content: [] } : emptied(role(message));
}

const emptied = (role: Role): ResponsesMessage => ({ role: role === "tool" ? "user" : role, content: "" });

function withBlocks(item: ResponsesItem, chosen: readonly ResponsesSlot[]): ResponsesItem {
  const blocks = chosen.flatMap(({ block }) => block ?? []);
  const only = blocks.length === 1 ? blocks[0]! : null;
  if (typeof item["content"] === "string" && typeof only?.["text"] === "string")
    return { ...item, content: only["text"] };
  return { ...item, content: blocks };
}

/** Two messages of a speaker are one message; anything else stands side by side in one turn. */
function join(first: ResponsesMessage, second: ResponsesMessage): ResponsesMessage {
  const [before, after] = [listOf(first), listOf(second)];
  const [last, next] = [before.at(-1), after[0]];
  if (last === undefined || next === undefined) return turnOf([...before, ...after]);
  if (!items.isMessage(last) || !items.isMessage(next))
    return turnOf([...before, ...after].filter((item) => !isBlank(item)));
  const block = items.textBlock(items.roleOf(last));
  const joined = { ...last, content: joinContent(contentOf(last), contentOf(next), block) };
  return turnOf([...before.slice(0, -1), joined, ...after.slice(1)]);
}

const contentOf = (item: ResponsesItem) => (item["content"] ?? "") as string | readonly ResponsesBlock[];

const isBlank = (item: ResponsesItem): boolean => items.isMessage(item) && contentOf(item).length === 0;

/** One item per result; other content follows in a user message. */
function make(role: Role, parts: readonly Part[]): readonly ResponsesMessage[] {
  if (role === "assistant") return [makeAssistant(parts)];
  if (role !== "tool") return [{ role, content: writeContent(role, parts) }];
  return resultsApart<ResponsesMessage>(
    parts,
    (results) => results.map(items.writeResult),
    (rest) => make("user", rest),
  );
}

function makeAssistant(parts: readonly Part[]): ResponsesMessage {
  const written: ResponsesItem[] = [];
  let said: Part[] = [];
  const flush = () => {
    const content = writeContent("assistant", said);
    if (content.length > 0) written.push({ role: "assistant", content });
    said = [];
  };
  for (const part of parts) {
    if (part.kind !== "call" && part.kind !== "reasoning") {
      said.push(part);
      continue;
    }
    flush();
    written.push(part.kind === "call" ? items.writeCall(part) : items.writeReasoning(part));
  }
  flush();
  return written.length === 0 ? { role: "assistant", content: "" } : turnOf(written);
}

function writeContent(role: Role, parts: readonly Part[]): string | readonly ResponsesBlock[] {
  return contentFrom(parts, (part) => items.writeBlock(part, role));
}

/* What the items of OpenAI's Responses API hold, how they are recognized and what the API accepts. */

const TEXTS = ["input_text", "output_text", "text", "refusal", "input_image", "input_file", "input_audio"];

const block = typed({
  input_text: fields({ text: string }),
  output_text: fields({ text: string }),
  text: fields({ text: string }),
  refusal: fields({ refusal: string }),
  input_image: fields({ image_url: optional(string), file_id: optional(string) }),
  input_file: fields({ filename: optional(string), file_data: optional(string) }),
});

const message = messageCheck({
  name: "openai-responses",
  roles: ["system", "developer", "user", "assistant"],
  block,
});

const told = optional(list(fields({ text: optional(string) })));
const output = optional(textOr(list(block)));

const ITEMS: Readonly<Record<string, Check>> = {
  function_call: fields({ call_id: string, name: string, arguments: string }),
  custom_tool_call: fields({ call_id: string, name: string, input: string }),
  function_call_output: fields({ call_id: string, output }),
  custom_tool_call_output: fields({ call_id: string, output }),
  reasoning: fields({ summary: told, content: told, encrypted_content: optional(string) }),
};

/** Items that the API runs itself, or that steer it. */
const CARRIED = [
  "*_call",
  "*_call_output",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
  "item_reference",
  "compaction",
  "compaction_summary",
  "compaction_trigger",
];

function check(value: unknown): MessageProblem | null {
  if (!Array.isArray(value)) return checkItem(value);
  if (value.length === 0) return { problem: "bad-content", detail: "the turn has no item" };
  for (const item of value) {
    const problem = checkItem(item);
    if (problem !== null) return problem;
  }
  return null;
}

function checkItem(value: unknown): MessageProblem | null {
  if (!isRecord(value)) return notAnObject(value);
  const type = value["type"] ?? "message";
  if (type === "message") return message(value);
  if (typeof type !== "string") return { problem: "unknown-role", detail: "type is not a string" };
  const wrong = Object.hasOwn(ITEMS, type) ? ITEMS[type]!(value, "") : null;
  return wrong === null ? null : { problem: "bad-field", detail: wrong };
}

const OWN_BLOCKS = ["input_text", "output_text", "input_image", "input_file"];

function mark(value: Fields): string | null {
  const { type, role, content } = value;
  if (typeof type === "string" && isItem(type)) return `the type ${type}`;
  if (type === "message" && typeof role === "string") return "the type message";
  return role === undefined ? null : markedBlock(content, (one) => OWN_BLOCKS.includes(String(one["type"])));
}

const KNOWN = [...Object.keys(ITEMS), ...CARRIED];

const isItem = (type: string): boolean =>
  type !== "tool_call" && strangeBlock([{ type }], { name: "", types: KNOWN }) === null;

function unknownBlock(value: Fields): string | null {
  for (const item of Array.isArray(value) ? value : [value]) {
    const { type = "message", content } = item as Fields;
    const name = "openai-responses";
    const strange =
      type === "message"
        ? strangeBlock(content, { name, types: TEXTS })
        : isItem(String(type))
          ? null
          : `the item has the unknown type "${String(type)}"; ${name} knows message, ${KNOWN.join(", ")}`;
    if (strange !== null) return strange;
  }
  return null;
}

export const openaiResponses: DialectDefinition<ResponsesMessage> = {
  shape: responsesShape,
  rules: openaiResponsesRules,
  check,
  mark,
  unknownBlock,
  model: "gpt-4o",
  carries: (signer) => signer === "openai",
  together,
  resultsIn: "tool",
  control: ["item_reference", "compaction_trigger", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response"],
};
