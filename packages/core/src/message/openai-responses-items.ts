/**
 * The items of OpenAI's Responses API, seen as parts and written from parts. A message item holds blocks, one part each;
 * every other item is one part. Items that only the API understands (searches, approvals, a sealed compaction) are carried.
 */
import { blocksOf, file, image, imageUrl, media, other, resultOf, text } from "./schema.ts";
import type { CallPart, FilePart, Part, ReasoningPart, ResultPart, Role } from "./shape.ts";

export type ResponsesItem = { readonly type?: string; readonly id?: string } & ResponsesFields;
export type ResponsesBlock = { readonly type: string } & ResponsesFields;

type ResponsesFields = Readonly<Record<string, unknown>>;

/** Calls that we answer, and where each keeps its input. */
const CALLS: Readonly<Record<string, string>> = { function_call: "arguments", custom_tool_call: "input" };
const OUTPUTS = ["function_call_output", "custom_tool_call_output"];

export const isMessage = (item: ResponsesItem): boolean => item.type === undefined || item.type === "message";
const isCall = (item: ResponsesItem): boolean => Object.hasOwn(CALLS, item.type ?? "");
const isOutput = (item: ResponsesItem): boolean => OUTPUTS.includes(item.type ?? "");

export function roleOf(item: ResponsesItem): Role {
  if (isMessage(item)) return item["role"] === "developer" ? "system" : (item["role"] as Role);
  if (/_output$|_response$/.test(item.type ?? "")) return "tool";
  return item.type === "compaction_trigger" ? "user" : "assistant";
}

export const blocksIn = (item: ResponsesItem): readonly ResponsesBlock[] =>
  blocksOf((item["content"] ?? "") as string | readonly ResponsesBlock[], textBlock(roleOf(item)));

/** `output_text` for the assistant, `input_text` for all others; the API refuses the reverse. */
export const textBlock =
  (role: Role) =>
  (words: string): ResponsesBlock => ({ type: role === "assistant" ? "output_text" : "input_text", text: words });

export function viewBlock(block: ResponsesBlock): Part {
  switch (block.type) {
    case "input_text":
    case "output_text":
    case "text":
    case "summary_text":
      return text(String(block["text"]));
    case "refusal":
      return text(String(block["refusal"]));
    case "input_image":
      return viewImage(block);
    case "input_file":
      return viewFile(block);
    default:
      return other(block);
  }
}

function viewImage({ image_url, file_id }: ResponsesFields): Part {
  if (typeof image_url !== "string") return file({ mediaType: "image", ref: String(file_id ?? "") });
  return image_url.startsWith("data:") ? media(image_url, "image/png") : image(null, { url: image_url });
}

function viewFile({ file_data, file_id, file_url, filename }: ResponsesFields): Part {
  const name = typeof filename === "string" ? filename : null;
  if (typeof file_data === "string") return media(file_data, "application/octet-stream", name);
  const ref = file_url ?? file_id;
  return file({ name, ref: typeof ref === "string" ? ref : null });
}

/** An item that is no message. */
export function viewItem(item: ResponsesItem): Part {
  if (isCall(item)) {
    const input = item[CALLS[item.type!]!];
    return { kind: "call", id: String(item["call_id"]), name: String(item["name"]), input: String(input ?? "") };
  }
  if (isOutput(item)) return viewOutput(item);
  return item.type === "reasoning" ? viewReasoning(item) : other(item);
}

function viewOutput(item: ResponsesItem): ResultPart {
  const output = (item["output"] ?? "") as string | readonly ResponsesBlock[];
  const inside = blocksOf(output, textBlock("user")).map(viewBlock);
  return resultOf(inside, { id: String(item["call_id"]) });
}

/** A thought that is only named by its id is kept by OpenAI: it is theirs, though there is no proof in it. */
function viewReasoning(item: ResponsesItem): ReasoningPart {
  const sealed = item["encrypted_content"];
  const signature = typeof sealed === "string" && sealed !== "" ? sealed : null;
  const told = [item["content"], item["summary"]].flatMap((list) => (Array.isArray(list) ? list : []));
  const isTheirs = signature !== null || typeof item.id === "string";
  return {
    kind: "reasoning",
    text: told.map((block: ResponsesFields) => String(block["text"] ?? "")).join("\n\n"),
    signature,
    signedBy: isTheirs ? "openai" : null,
    redacted: false,
  };
}

export function editBlock(block: ResponsesBlock, part: Part, role: Role): ResponsesBlock {
  if (part.kind === "text" && typeof block["text"] === "string") return { ...block, text: part.text };
  if (part.kind === "text" && block.type === "refusal") return { ...block, refusal: part.text };
  return part.kind === "other" ? block : writeBlock(part, role);
}

export function editItem(item: ResponsesItem, part: Part): ResponsesItem {
  switch (part.kind) {
    case "call":
      return { ...item, call_id: part.id, name: part.name, [CALLS[item.type!]!]: part.input };
    case "result": {
      const was = viewOutput(item);
      const isSame = was.text === part.text && was.images.length === part.images.length;
      return { ...item, call_id: part.id, ...(!isSame && { output: writeOutput(part) }) };
    }
    case "reasoning": {
      const { content: _, ...rest } = item;
      return { ...rest, summary: summaryOf(part.text) };
    }
    case "text":
      return { role: "assistant", content: part.text };
    default:
      return item;
  }
}

export function writeBlock(part: Part, role: Role): ResponsesBlock {
  switch (part.kind) {
    case "image":
      return { type: "input_image", image_url: imageUrl(part), detail: "auto" };
    case "file":
      return writeFile(part, role);
    case "other":
      return textBlock(role)(part.json);
    default:
      return textBlock(role)(part.kind === "call" ? part.input : part.text);
  }
}

function writeFile(part: FilePart, role: Role): ResponsesBlock {
  const name = part.name === null ? {} : { filename: part.name };
  if (part.data === "") {
    const ref = part.ref ?? "";
    if (part.mediaType?.startsWith("image")) return { type: "input_image", file_id: ref, detail: "auto" };
    return { type: "input_file", ...name, ...(/^https?:/.test(ref) ? { file_url: ref } : { file_id: ref }) };
  }
  if (part.encoding === "text") return textBlock(role)(part.data);
  return { type: "input_file", ...name, file_data: `data:${part.mediaType ?? ""};base64,${part.data}` };
}

export const writeCall = ({ id, name, input }: CallPart): ResponsesItem => ({
  type: "function_call",
  call_id: id,
  name,
  arguments: input,
});

export const writeResult = (part: ResultPart): ResponsesItem => ({
  type: "function_call_output",
  call_id: part.id,
  output: writeOutput(part),
});

function writeOutput({ text: words, images }: ResultPart): string | readonly ResponsesBlock[] {
  if (images.length === 0) return words;
  return [...blocksOf(words, textBlock("user")), ...images.map((picture) => writeBlock(picture, "user"))];
}

export const writeReasoning = (part: ReasoningPart): ResponsesItem => ({
  type: "reasoning",
  summary: summaryOf(part.text),
  // Anybody else's proof means nothing here.
  ...(part.signature !== null && part.signedBy === "openai" && { encrypted_content: part.signature }),
});

const summaryOf = (words: string): readonly ResponsesBlock[] =>
  words === "" ? [] : [{ type: "summary_text", text: words }];
