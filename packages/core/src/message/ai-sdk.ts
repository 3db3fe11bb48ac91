/**
 * The shape of AI SDK 7 `ModelMessage`s. The types are structural: fields they don't name travel along untouched, and
 * nothing is imported from the SDK. Calls that the provider itself ran stand, with their results, in the assistant's
 * message; they need no answer from us, so they are carried as other blocks.
 */
import type { DialectDefinition } from "./dialects.ts";
import { googleRules } from "./rules.ts";
import {
  blocksOf,
  contentFrom,
  editingBlocks,
  type Fields,
  fields,
  file,
  inputText,
  inputValue,
  joinContent,
  list,
  markedBlock,
  media,
  messageCheck,
  optional,
  other,
  result,
  resultOf,
  resultsApart,
  sameContent,
  strangeBlock,
  string,
  text,
  textOr,
  thought,
  typed,
} from "./schema.ts";
import type { FilePart, ImagePart, Part, ReasoningPart, ResultPart, Role, Shape } from "./shape.ts";

export interface AiSdkMessage {
  readonly role: Role;
  readonly content: string | readonly AiSdkPart[];
  readonly providerOptions?: ProviderOptions;
}

type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export type AiSdkPart = { readonly providerOptions?: ProviderOptions } & (
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly image: FileData; readonly mediaType?: string }
  | ({ readonly type: "file" } & FileFields)
  | { readonly type: "reasoning"; readonly text: string }
  | {
      readonly type: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
      readonly providerExecuted?: boolean;
    }
  | {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly output: AiSdkOutput;
    }
);

export type AiSdkOutput =
  | { readonly type: "text" | "error-text"; readonly value: string }
  | { readonly type: "json" | "error-json"; readonly value: unknown }
  | { readonly type: "execution-denied"; readonly reason?: string }
  | { readonly type: "content"; readonly value: readonly AiSdkOutputPart[] };

type AiSdkOutputPart =
  | { readonly type: "text"; readonly text: string }
  | ({ readonly type: "file" } & FileFields)
  | { readonly type: "media" | "file-data" | "image-data"; readonly data: string; readonly mediaType: string }
  | { readonly type: "file-url" | "image-url"; readonly url: string; readonly mediaType?: string };

export const aiSdkShape: Shape<AiSdkMessage> = {
  dialect: "ai-sdk",
  role: (message) => message.role,
  wireRole: (message) => message.role,
  ...editingBlocks({ parts, blocks: (message) => blocks(message), edit }),
  make,
  turn: (role, content) => ({ role, content }),
  mark: (message, source) => ({
    ...message,
    providerOptions: { ...message.providerOptions, palimpsest: { source } },
  }),
  results: (answers) => make("tool", answers.map(result)),
  join: (first, second) => ({ ...first, content: joinContent(first.content, second.content, textBlock) }),
};

function parts(message: AiSdkMessage): readonly Part[] {
  return blocks(message).map((block) => view(block, message.role));
}

const blocks = (message: AiSdkMessage): readonly AiSdkPart[] => blocksOf(message.content, textBlock);

const textBlock = (value: string): AiSdkPart => ({ type: "text", text: value });

function view(block: AiSdkPart, role: Role): Part {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return viewFile({ data: block.image, mediaType: block.mediaType ?? "image" }) ?? other(block);
    case "file":
      return viewFile(block) ?? other(block);
    case "reasoning":
      return viewReasoning(block);
    case "tool-call":
      if (role !== "assistant" || block.providerExecuted) return other(block);
      return { kind: "call", id: block.toolCallId, name: block.toolName, input: inputText(block.input) };
    case "tool-result":
      return role === "tool" ? viewResult(block) : other(block);
    default:
      return other(block);
  }
}

/** Where each provider's adapter keeps its proof. */
const SIGNATURES = [
  ["anthropic", "signature"],
  ["bedrock", "signature"],
  ["google", "thoughtSignature"],
  ["vertex", "thoughtSignature"],
  ["openai", "reasoningEncryptedContent"],
] as const;

function viewReasoning(block: AiSdkPart & { type: "reasoning" }): ReasoningPart {
  const options = block.providerOptions ?? {};
  const redacted = options["anthropic"]?.["redactedData"];
  if (typeof redacted === "string")
    return thought(block.text, { signature: redacted, signedBy: "anthropic", redacted: true });
  for (const [signedBy, key] of SIGNATURES) {
    const signature = options[signedBy]?.[key];
    if (typeof signature === "string" && signature !== "") return thought(block.text, { signature, signedBy });
  }
  return thought(block.text);
}

function viewResult(block: AiSdkPart & { type: "tool-result" }): ResultPart {
  const { output } = block;
  const inside = output.type === "content" ? output.value.map(viewOutputPart) : [text(outputText(output))];
  const isError = output.type === "error-text" || output.type === "error-json" || output.type === "execution-denied";
  return resultOf(inside, { id: block.toolCallId, name: block.toolName, isError });
}

function outputText(output: Exclude<AiSdkOutput, { type: "content" }>): string {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "json":
    case "error-json":
      return JSON.stringify(output.value) ?? "null";
    case "execution-denied":
      return output.reason ?? "Tool execution denied.";
    default:
      return JSON.stringify(output);
  }
}

function viewOutputPart(part: AiSdkOutputPart): Part {
  switch (part.type) {
    case "text":
      return text(part.text);
    case "file":
    case "media":
    case "file-data":
    case "image-data":
      return viewFile(part) ?? other(part);
    case "file-url":
    case "image-url":
      return viewFile({ data: { type: "url", url: part.url }, mediaType: part.mediaType ?? "image" }) ?? other(part);
    default:
      return other(part);
  }
}

/** Replaces what the part says and keeps the block's provider options: a signature or a cache mark lives there. */
function edit(block: AiSdkPart, part: Part): AiSdkPart {
  if (part.kind === "other") return block;
  if (part.kind === "result" && block.type === "tool-result" && sameContent(part, viewResult(block))) {
    return { ...block, toolCallId: part.id };
  }
  const { providerOptions, ...written } = write(part);
  if (written.type === block.type) return { ...block, ...written } as AiSdkPart;
  return (block.providerOptions ? { ...written, providerOptions: block.providerOptions } : written) as AiSdkPart;
}

function write(part: Part): AiSdkPart {
  switch (part.kind) {
    case "text":
      return textBlock(part.text);
    case "reasoning":
      return writeReasoning(part);
    case "call":
      return { type: "tool-call", toolCallId: part.id, toolName: part.name, input: inputValue(part.input) };
    case "result":
      return { type: "tool-result", toolCallId: part.id, toolName: part.name ?? "unknown", output: writeOutput(part) };
    case "image":
      return { type: "file", ...writeImage(part) };
    case "file":
      return { type: "file", ...writeFile(part) };
    case "other":
      return textBlock(part.json);
  }
}

function writeReasoning(part: ReasoningPart): AiSdkPart {
  const block = { type: "reasoning", text: part.text } as const;
  if (part.signature === null) return block;
  const key = part.redacted ? "redactedData" : SIGNATURES.find(([provider]) => provider === part.signedBy)?.[1];
  return { ...block, providerOptions: { [part.signedBy ?? "anthropic"]: { [key ?? "signature"]: part.signature } } };
}

function writeOutput(part: ResultPart): AiSdkOutput {
  if (part.images.length === 0) return { type: part.isError ? "error-text" : "text", value: part.text };
  const files = part.images.map((image) => ({ type: "file", ...writeImage(image) }) as const);
  return { type: "content", value: part.text === "" ? files : [{ type: "text", text: part.text }, ...files] };
}

/** A tool message holds results only: what else there is follows in a user message. */
function make(role: Role, parts: readonly Part[]): readonly AiSdkMessage[] {
  if (role === "system") {
    return [{ role, content: parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n") }];
  }
  if (role !== "tool") return [{ role, content: contentFrom(parts, write) }];
  return resultsApart(
    parts,
    (results): readonly AiSdkMessage[] => [{ role, content: results.map(write) }],
    (rest) => make("user", rest),
  );
}

/*
 * Files and images in AI SDK messages: the data is a string (base64, a data URL, a URL), bytes, a URL object, or one of
 * the tagged forms of version 7. This file reads all of them and writes the tagged form, which survives JSON.
 */

interface FileFields {
  readonly data: FileData;
  readonly mediaType: string;
  readonly filename?: string;
}

type FileData =
  | string
  | Uint8Array
  | ArrayBuffer
  | { readonly href: string }
  | { readonly type: "data"; readonly data: string | Uint8Array | ArrayBuffer }
  | { readonly type: "url"; readonly url: string | { readonly href: string } }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reference"; readonly reference: Readonly<Record<string, string>> };

/** Null when the data has a form we don't know. */
function viewFile(fields: FileFields): ImagePart | FilePart | null {
  const { data, mediaType } = fields;
  const name = fields.filename ?? null;
  if (typeof data === "string") return media(data, mediaType, name);
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return media(base64(data), mediaType, name);
  if ("href" in data) return media(data.href, mediaType, name);
  switch (data.type) {
    case "data":
      return media(typeof data.data === "string" ? data.data : base64(data.data), mediaType, name);
    case "url":
      return media(typeof data.url === "string" ? data.url : data.url.href, mediaType, name);
    case "text":
      return file({ mediaType, name, data: data.text, encoding: "text" });
    case "reference":
      return file({ mediaType, name, ref: Object.values(data.reference)[0] ?? null });
    default:
      return null;
  }
}

const writeImage = ({ source, mediaType, name }: ImagePart): FileFields => ({
  data: source.kind === "url" ? { type: "url", url: source.url } : { type: "data", data: source.data },
  mediaType: mediaType ?? "image",
  ...(name !== undefined && { filename: name }),
});

const writeFile = (part: FilePart): FileFields => ({
  data: writeData(part),
  mediaType: part.mediaType ?? "application/octet-stream",
  ...(part.name !== null && { filename: part.name }),
});

function writeData(part: FilePart): FileData {
  if (part.data !== "") {
    return part.encoding === "text" ? { type: "text", text: part.data } : { type: "data", data: part.data };
  }
  const ref = part.ref ?? "";
  return /^https?:/.test(ref) ? { type: "url", url: ref } : { type: "reference", reference: { id: ref } };
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Bytes as base64; core has no platform to ask. */
export function base64(data: Uint8Array | ArrayBuffer): string {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  let written = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const group = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    for (let digit = 0; digit < 4; digit++) {
      written += digit > left ? "=" : DIGITS[(group >> (18 - 6 * digit)) & 63];
    }
  }
  return written;
}

/* What the AI SDK's model messages hold, how they are recognized and what suits every provider behind it. */

const data = textOr(
  typed({
    data: fields({ data: string }),
    url: fields({ url: string }),
    text: fields({ text: string }),
    reference: fields({ reference: fields({}) }),
  }),
);

const fileCheck = fields({ data, mediaType: string, filename: optional(string) });

const output = typed({
  text: fields({ value: string }),
  "error-text": fields({ value: string }),
  "execution-denied": fields({ reason: optional(string) }),
  content: fields({
    value: list(
      typed({
        text: fields({ text: string }),
        file: fileCheck,
        media: fields({ data: string, mediaType: string }),
        "file-data": fields({ data: string, mediaType: string }),
        "image-data": fields({ data: string, mediaType: string }),
        "file-url": fields({ url: string, mediaType: optional(string) }),
        "image-url": fields({ url: string, mediaType: optional(string) }),
      }),
    ),
  }),
});

const check = messageCheck({
  name: "ai-sdk",
  roles: ["system", "user", "assistant", "tool"],
  block: typed({
    text: fields({ text: string }),
    image: fields({ image: data, mediaType: optional(string) }),
    file: fileCheck,
    reasoning: fields({ text: string }),
    "tool-call": fields({ toolCallId: string, toolName: string }),
    "tool-result": fields({ toolCallId: string, toolName: string, output }),
  }),
  content: (role) => (role === "tool" ? "list" : role === "system" ? "text" : "either"),
});

const OWN_BLOCKS = [
  "reasoning",
  "reasoning-file",
  "tool-call",
  "tool-result",
  "tool-approval-request",
  "tool-approval-response",
];

function mark({ role, content, providerOptions }: Fields): string | null {
  if (typeof role !== "string") return null;
  if (providerOptions != null) return "the field providerOptions";
  return markedBlock(content, (block) => {
    const type = String(block["type"]);
    const isFile = (type === "image" && block["source"] == null) || (type === "file" && block["file"] == null);
    return block["providerOptions"] != null || block["mediaType"] != null || isFile || OWN_BLOCKS.includes(type);
  });
}

export const aiSdk: DialectDefinition<AiSdkMessage> = {
  shape: aiSdkShape,
  // The SDK speaks to any provider: the order must suit the strictest, but its adapters drop foreign reasoning themselves.
  rules: googleRules,
  check,
  mark,
  unknownBlock: ({ content }) =>
    strangeBlock(content, { name: "ai-sdk", types: ["text", "image", "file", "custom", ...OWN_BLOCKS] }),
  model: "gpt-4o",
  carries: () => true,
  resultsIn: "tool",
  control: ["tool-approval-request", "tool-approval-response", "custom"],
};
