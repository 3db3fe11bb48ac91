/** OpenAI chat completions: its requests, its errors. How its answers are read is in `answer.ts`. */
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/message";
import { openaiFailure } from "../openai-failure.ts";
import { common, type Fields, leadingIn, listIn, numberIn, type ReadRequest, type Vendor } from "../vendor.ts";
import { type Checked, readItems } from "../wire/read-items.ts";
import { chatReader } from "./answer.ts";
import { chatWriter } from "./writer.ts";

export const openaiChat: Vendor<OpenAiMessage> = {
  name: "openai-chat",
  shape: openaiShape,
  path: "/chat/completions",
  countPath: null,
  field: "messages",
  providers: ["openai", "openai-compatible"],
  address: "https://api.openai.com/v1",
  key: (key) => ({ authorization: `Bearer ${key}` }),
  read: readBody,
  write: ({ request, messages }) => [...request.leading, ...messages],
  reader: chatReader,
  thinks: () => false,
  writer: chatWriter,
  failure: openaiFailure,
  streamFailure: (failure) => `data: ${JSON.stringify(openaiFailure(failure))}\n\n`,
  counted: (tokens) => ({ input_tokens: tokens }),
};

function readBody(body: Fields, checked: Checked | null): ReadRequest<OpenAiMessage> {
  const known = common(body);
  if (known === null) return { kind: "problem", message: "you must provide a model parameter", param: "model" };
  const given = body["messages"];
  if (!Array.isArray(given) || given.length === 0)
    return { kind: "problem", message: "'messages' must be a list of at least one message", param: "messages" };
  const read = readItems("openai", given, checked);
  if (read.kind === "problem") return { kind: "problem", message: read.detail, param: `messages.[${read.index}]` };
  const all = read.items;
  const leading = leadingIn(all, openaiShape);
  return {
    kind: "request",
    request: {
      ...known,
      leading,
      messages: all.slice(leading.length),
      system: leading
        .flatMap((message) => openaiShape.parts(message).map((part) => ("text" in part ? part.text : "")))
        .join("\n\n"),
      tools: [...listIn(body["tools"]), ...listIn(body["functions"])],
      maxTokens: numberIn(body["max_completion_tokens"], body["max_tokens"]),
      reference: null,
    },
  };
}
