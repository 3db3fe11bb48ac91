/**
 * The shape of OpenAI's Responses API. The API's input is a flat list of items, and one answer is several of them: thoughts,
 * text, calls. Here a message is one turn: an item, or the list of the items that belong together, so that a thought is
 * never parted from the call it led to. `responsesTurns` gathers a flat list into turns, `responsesItems` gives the flat list back.
 */
import { editingSlots, joinContent, result } from "../blocks.ts";
import type { Part, Role, Shape } from "../shape.ts";
import type { ResponsesBlock, ResponsesItem } from "./items.ts";
import * as items from "./items.ts";

export type ResponsesMessage = ResponsesItem | readonly ResponsesItem[];

export const responsesShape: Shape<ResponsesMessage> = {
  dialect: "openai-responses",
  role,
  wireRole: role,
  ...editingSlots({ slots, edit, rebuild }),
  calls: (message) => idsOf(message, "call"),
  answers: (message) => idsOf(message, "result"),
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
export const together = (first: ResponsesMessage, second: ResponsesMessage): boolean =>
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

function idsOf(message: ResponsesMessage, kind: "call" | "result"): string[] {
  const isWanted = kind === "call" ? items.isCall : items.isOutput;
  return listOf(message).flatMap((item) => (isWanted(item) ? [String(item["call_id"])] : []));
}

/** A part and the item it was read from; `block` where the item is a message of several. */
interface Slot {
  readonly part: Part;
  readonly item: ResponsesItem;
  readonly block: ResponsesBlock | null;
}

function slots(message: ResponsesMessage): readonly Slot[] {
  return listOf(message).flatMap((item): readonly Slot[] => {
    if (!items.isMessage(item)) return [{ part: items.viewItem(item), item, block: null }];
    return items.blocksIn(item).map((block) => ({ part: items.viewBlock(block), item, block }));
  });
}

function edit({ item, block }: Slot, part: Part): Slot {
  if (block !== null) return { part, item, block: items.editBlock(block, part, items.roleOf(item)) };
  return { part, item: items.editItem(item, part), block: null };
}

/** Neighbouring slots of one message item stay one item; what nothing is left of goes, but for a message of its own. */
function rebuild(message: ResponsesMessage, chosen: readonly Slot[]): ResponsesMessage {
  const runs: Slot[][] = [];
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

function withBlocks(item: ResponsesItem, chosen: readonly Slot[]): ResponsesItem {
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

/** Each result is an item of its own; what else stands with them follows in a user's message. */
function make(role: Role, parts: readonly Part[]): readonly ResponsesMessage[] {
  if (role === "assistant") return [makeAssistant(parts)];
  if (role !== "tool") return [{ role, content: writeContent(role, parts) }];
  const results = parts.filter((part) => part.kind === "result");
  const rest = parts.filter((part) => part.kind !== "result");
  return [...results.map(items.writeResult), ...(rest.length > 0 ? make("user", rest) : [])];
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
  const only = parts.length === 1 ? parts[0] : undefined;
  if (parts.length === 0) return "";
  return only?.kind === "text" ? only.text : parts.map((part) => items.writeBlock(part, role));
}
