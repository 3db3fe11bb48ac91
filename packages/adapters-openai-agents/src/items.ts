/**
 * Items of the Agents SDK as items of the Responses API and back, without loss: the log holds what every reader of it
 * knows, the SDK gets back what it gave. A field that the API doesn't have is carried along; one that it spells otherwise is
 * renamed; items that only the SDK knows are carried whole. What was edited on the way (pruned, clamped) comes back edited.
 */
import type { AgentInputItem } from "@openai/agents-core";
import type { ResponsesItem } from "@palimpsest/core/internal/message";

type ItemFields = Readonly<Record<string, unknown>>;

export function toResponsesItem(item: AgentInputItem): ResponsesItem {
  const fields: ItemFields = { ...item };
  switch (item.type) {
    case "function_call":
      return renamed(fields, { callId: "call_id" });
    case "function_call_result":
      return {
        ...renamed(fields, { callId: "call_id" }),
        type: "function_call_output",
        output: toOutput(fields["output"]),
      };
    case "computer_call_result":
      return { ...fields, type: "computer_call_output" };
    case "reasoning":
      return sealed(renamed(fields, { content: "summary", rawContent: "content" }));
    case undefined:
    case "message":
      return withBlocks(fields, toBlock);
    default:
      return fields;
  }
}

export function fromResponsesItem(item: ResponsesItem): AgentInputItem {
  // Whatever the log holds of this session came in as one of the SDK's items, or is text that stands for some.
  return fieldsOf(item) as unknown as AgentInputItem;
}

function fieldsOf(item: ResponsesItem): ItemFields {
  switch (item.type) {
    case "function_call":
      return renamed(item, { call_id: "callId" });
    case "function_call_output":
      return fromOutput(item);
    case "computer_call_output":
      return { ...item, type: "computer_call_result" };
    case "reasoning":
      return thought(renamed(unsealed(item), { content: "rawContent", summary: "content" }));
    case undefined:
    case "message":
      return withStatus(withBlocks(item, fromBlock));
    default:
      return item;
  }
}

/** Where a name is taken and given at once, all change at the same time. */
function renamed(fields: ItemFields, names: Readonly<Record<string, string>>): ItemFields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value]));
}

/** A thought that was shortened is written as the API spells it. */
function thought(item: ItemFields): ItemFields {
  return withBlocks(item, (block) => (block["type"] === "summary_text" ? { ...block, type: "input_text" } : block));
}

/** An answer that we wrote (an acknowledgement) is text alone; the SDK wants a finished message of blocks. */
function withStatus(item: ItemFields): ItemFields {
  const { role, content, status } = item;
  if (role !== "assistant" || (typeof content !== "string" && status !== undefined)) return item;
  const blocks = typeof content === "string" ? [{ type: "output_text", text: content }] : content;
  return { ...item, status: status ?? "completed", content: blocks };
}

function withBlocks(item: ItemFields, edit: (block: ItemFields) => ItemFields): ItemFields {
  const { content } = item;
  return Array.isArray(content) ? { ...item, content: content.map(edit) } : item;
}

function toBlock(block: ItemFields): ItemFields {
  switch (block["type"]) {
    case "input_image":
      return moved(block, "image", { text: "image_url", id: "file_id" });
    case "input_file":
      return moved(block, "file", { text: "file_data", id: "file_id", url: "file_url" });
    default:
      return block;
  }
}

function fromBlock(block: ItemFields): ItemFields {
  switch (block["type"]) {
    case "input_image":
      return movedBack(block, "image", { image_url: "text", file_id: "id" });
    case "input_file":
      return movedBack(block, "file", { file_data: "text", file_id: "id", file_url: "url" });
    default:
      return block;
  }
}

/** `{ image: { id: "f" } }` is `{ file_id: "f" }`, in place. */
function moved(block: ItemFields, from: string, to: Readonly<Record<string, string>>): ItemFields {
  const value = block[from];
  const [key, inner] = isFields(value) ? (Object.entries(value)[0] ?? ["", null]) : ["text", value];
  const name = to[key];
  if (name === undefined || typeof inner !== "string") return block;
  return Object.fromEntries(Object.entries(block).map((entry) => (entry[0] === from ? [name, inner] : entry)));
}

function movedBack(block: ItemFields, to: string, from: Readonly<Record<string, string>>): ItemFields {
  if (to in block) return block;
  const entries = Object.entries(block).map(([name, value]): readonly [string, unknown] => {
    const key = from[name];
    return key === undefined ? [name, value] : [to, key === "text" ? value : { [key]: value }];
  });
  return Object.fromEntries(entries);
}

/**
 * The API knows text and a list of blocks. The SDK also has one block alone, of types of its own: that one is a list of
 * one, and says in `alone` how it was spelled.
 */
function toOutput(output: unknown): unknown {
  if (Array.isArray(output)) return output.map((block) => toBlock(block as ItemFields));
  if (!isFields(output)) return output;
  const { type, image, file } = output;
  if (type === "image" && image !== undefined) return [aloneBlock(output, "image", "input_image")];
  if (type === "file" && file !== undefined) return [aloneBlock(output, "file", "input_file")];
  return [output];
}

function fromOutput(item: ResponsesItem): ItemFields {
  const { output, ...rest } = renamed(item, { call_id: "callId" });
  const list: readonly ItemFields[] | null = Array.isArray(output) ? (output as readonly ItemFields[]) : null;
  const [only] = list?.length === 1 ? list : [];
  const alone = only !== undefined && ("alone" in only || !String(only["type"]).startsWith("input_"));
  const given = alone ? spelledAlone(only) : (list?.map(fromBlock) ?? output);
  const result = { ...rest, type: "function_call_result", output: given };
  // One that we wrote, for a call without an answer, has neither.
  return { name: "", status: "completed", ...result };
}

/** Bytes as a `data:` address, everything else as it is; `alone` has what is needed to spell it again. */
function aloneBlock(output: ItemFields, name: "image" | "file", type: string): ItemFields {
  const { type: _, [name]: value, ...rest } = output;
  const field = name === "image" ? "image_url" : "file_data";
  if (!isFields(value)) return { type, [field]: value, ...rest, alone: {} };
  const { data, url, ...others } = value;
  if (typeof url === "string") {
    return { type, [name === "image" ? "image_url" : "file_url"]: url, ...rest, alone: { as: "url", ...others } };
  }
  const id = name === "image" ? "fileId" : "id";
  if (typeof others[id] === "string") return { type, file_id: others[id], ...rest, alone: { as: id, ...others } };
  const prefix = String(data).startsWith("data:") ? "" : `data:${String(others["mediaType"] ?? "")};base64,`;
  return { type, [field]: `${prefix}${String(data)}`, ...rest, alone: { as: "data", prefix, ...others } };
}

function spelledAlone(block: ItemFields): ItemFields {
  const { alone, type, image_url, file_data, file_url, file_id, ...rest } = block;
  if (!isFields(alone)) return block;
  const name = type === "input_image" ? "image" : "file";
  const { as, prefix, ...others } = alone;
  const text = image_url ?? file_data ?? file_url ?? file_id;
  if (as === undefined) return { type: name, [name]: text, ...rest };
  const value = as === "data" ? String(text).slice(String(prefix).length) : text;
  return { type: name, [name]: { ...others, [String(as)]: value }, ...rest };
}

/** The proof of a thought stands where the API has it; null keeps its place. */
function sealed(item: ItemFields): ItemFields {
  const { providerData } = item;
  if (!isFields(providerData)) return item;
  const name = SEALS.find((one) => typeof providerData[one] === "string");
  if (name === undefined) return item;
  return { ...item, encrypted_content: providerData[name], providerData: { ...providerData, [name]: null } };
}

function unsealed(item: ItemFields): ItemFields {
  const { encrypted_content, ...rest } = item;
  const { providerData } = item;
  const name = isFields(providerData) ? SEALS.find((one) => providerData[one] === null) : undefined;
  if (encrypted_content === undefined) return item;
  return {
    ...rest,
    providerData: { ...(providerData as ItemFields), [name ?? "encryptedContent"]: encrypted_content },
  };
}

const SEALS = ["encryptedContent", "encrypted_content"];

const isFields = (value: unknown): value is ItemFields => typeof value === "object" && value !== null;
