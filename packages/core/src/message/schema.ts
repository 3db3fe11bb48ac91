/**
 * What each dialect's blocks must hold so that its shape can read them, as small checks that compose. A check returns
 * null, or one sentence that names the place and what was expected. Kinds and fields not listed are never checked.
 */
import type { Dialect } from "./shape.ts";

export type Check = (value: unknown, at: string) => string | null;

export const string: Check = (value, at) => (typeof value === "string" ? null : expected("a string", value, at));

export const optional =
  (check: Check): Check =>
  (value, at) =>
    value == null ? null : check(value, at);

export const fields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, at) => {
    if (!isRecord(value)) return expected("an object", value, at);
    for (const [name, check] of Object.entries(checks)) {
      const wrong = check(value[name], at === "" ? name : `${at}.${name}`);
      if (wrong !== null) return wrong;
    }
    return null;
  };

export const list =
  (check: Check): Check =>
  (value, at) => {
    if (!Array.isArray(value)) return expected("a list", value, at);
    for (const [index, item] of value.entries()) {
      const wrong = check(item, `${at}[${index}]`);
      if (wrong !== null) return wrong;
    }
    return null;
  };

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const expected = (what: string, value: unknown, at: string): string => `${at} is ${nameOf(value)}, not ${what}`;

export const nameOf = (value: unknown): string =>
  value === null ? "null" : value === undefined ? "missing" : Array.isArray(value) ? "a list" : `a ${typeof value}`;

/** An object with a type; a type that isn't listed may hold anything. */
const typed =
  (kinds: Readonly<Record<string, Check>>): Check =>
  (value, at) => {
    const type = isRecord(value) ? value["type"] : undefined;
    if (typeof type !== "string") return expected("an object with a type", value, at);
    return Object.hasOwn(kinds, type) ? kinds[type]!(value, at) : null;
  };

const textOr =
  (check: Check): Check =>
  (value, at) =>
    typeof value === "string" ? null : check(value, at);

const openaiBlock = typed({
  text: fields({ text: string }),
  refusal: fields({ refusal: string }),
  image_url: fields({ image_url: fields({ url: string }) }),
  input_audio: fields({ input_audio: fields({ data: string, format: string }) }),
  file: fields({
    file: fields({ file_data: optional(string), file_id: optional(string), filename: optional(string) }),
  }),
});

const anthropicSource = typed({
  base64: fields({ media_type: string, data: string }),
  text: fields({ media_type: string, data: string }),
  url: fields({ url: string }),
  file: fields({ file_id: string }),
});

const anthropicBlock: Check = typed({
  text: fields({ text: string }),
  image: fields({ source: anthropicSource }),
  document: fields({ source: anthropicSource, title: optional(string) }),
  thinking: fields({ thinking: string, signature: optional(string) }),
  redacted_thinking: fields({ data: string }),
  tool_use: fields({ id: string, name: string }),
  tool_result: fields({
    tool_use_id: string,
    content: optional(textOr(list((value, at) => anthropicBlock(value, at)))),
  }),
});

const aiSdkData = textOr(
  typed({
    data: fields({ data: string }),
    url: fields({ url: string }),
    text: fields({ text: string }),
    reference: fields({ reference: fields({}) }),
  }),
);

const aiSdkFile = fields({ data: aiSdkData, mediaType: string, filename: optional(string) });

const aiSdkOutput = typed({
  text: fields({ value: string }),
  "error-text": fields({ value: string }),
  "execution-denied": fields({ reason: optional(string) }),
  content: fields({
    value: list(
      typed({
        text: fields({ text: string }),
        file: aiSdkFile,
        media: fields({ data: string, mediaType: string }),
        "file-data": fields({ data: string, mediaType: string }),
        "image-data": fields({ data: string, mediaType: string }),
        "file-url": fields({ url: string, mediaType: optional(string) }),
        "image-url": fields({ url: string, mediaType: optional(string) }),
      }),
    ),
  }),
});

const aiSdkBlock = typed({
  text: fields({ text: string }),
  image: fields({ image: aiSdkData, mediaType: optional(string) }),
  file: aiSdkFile,
  reasoning: fields({ text: string }),
  "tool-call": fields({ toolCallId: string, toolName: string }),
  "tool-result": fields({ toolCallId: string, toolName: string, output: aiSdkOutput }),
});

export const BLOCK: Readonly<Record<Dialect, Check>> = {
  openai: openaiBlock,
  anthropic: anthropicBlock,
  "ai-sdk": aiSdkBlock,
};
