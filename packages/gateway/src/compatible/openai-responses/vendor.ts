/** OpenAI's Responses API: its requests, its errors. How its answers are read is in `answer.ts`. */
import { type ResponsesItem, type ResponsesMessage, responsesItems, responsesTurns } from "@palimpsest/core/message";
import { openaiFailure } from "../openai-failure.ts";
import { common, type Fields, leadingIn, listIn, numberIn, type ReadRequest, type Vendor } from "../vendor.ts";
import { type Checked, readItems } from "../wire/read-items.ts";
import { responsesReader } from "./answer.ts";
import { holdResponses } from "./hold.ts";
import { responsesShape } from "./shape.ts";
import { responsesWriter } from "./writer.ts";

const shape = responsesShape;

export const openaiResponses: Vendor<ResponsesMessage> = {
  name: "openai-responses",
  shape,
  path: "/responses",
  countPath: "/responses/input_tokens",
  field: "input",
  providers: ["openai"],
  address: "https://api.openai.com/v1",
  key: (key) => ({ authorization: `Bearer ${key}` }),
  read: readBody,
  write: ({ request, messages }) => [...request.leading, ...responsesItems(messages)],
  reader: responsesReader,
  thinks: () => false,
  writer: responsesWriter,
  hold: holdResponses,
  failure: openaiFailure,
  streamFailure: ({ code, message, param = null }) =>
    `event: error\ndata: ${JSON.stringify({ type: "error", code, message, param, sequence_number: 0 })}\n\n`,
  counted: (tokens) => ({ object: "response.input_tokens", input_tokens: tokens }),
};

function readBody(body: Fields, checked: Checked | null): ReadRequest<ResponsesMessage> {
  const known = common(body);
  if (known === null) return { kind: "problem", message: "you must provide a model parameter", param: "model" };
  const { input } = body;
  const items: readonly unknown[] = typeof input === "string" ? [{ role: "user", content: input }] : listIn(input);
  const read = readItems("openai-responses", items, checked);
  if (read.kind === "problem") return { kind: "problem", message: read.detail, param: `input[${read.index}]` };
  const all = items as readonly ResponsesItem[];
  const leading = leadingIn(all, shape);
  const told = leading.flatMap((item) => shape.parts(item).map((part) => ("text" in part ? part.text : "")));
  return {
    kind: "request",
    request: {
      ...known,
      leading,
      messages: responsesTurns(all.slice(leading.length)),
      system: [...(typeof body["instructions"] === "string" ? [body["instructions"]] : []), ...told].join("\n\n"),
      tools: listIn(body["tools"]),
      maxTokens: numberIn(body["max_output_tokens"]),
      reference: referenceIn(body, all),
    },
  };
}

/** What OpenAI keeps itself: the conversation before this, or an item that is only named. */
function referenceIn(
  { previous_response_id: previous, conversation }: Fields,
  items: readonly ResponsesItem[],
): string | null {
  if (typeof previous === "string") return previous;
  if (conversation != null) return "conversation";
  return items.some(({ type }) => type === "item_reference" || type === "compaction_trigger") ? "item" : null;
}
