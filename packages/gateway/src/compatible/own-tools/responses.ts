/** Tools of ours beside the client's in OpenAI's responses. */
import type { JsonFields } from "../../http/read-json.ts";
import { fieldsOf, listIn, objectOf } from "../../http/read-json.ts";
import {
  type AnswerStitch,
  addedUp,
  type StitchOptions,
  streamStitch,
  type VendorTools,
  wholeStitch,
} from "./stitch.ts";

export const responsesTools: VendorTools = {
  named({ tools, tool_choice: choice }) {
    if (choice != null && choice !== "auto" && choice !== "required") return null;
    return listIn(tools).map((tool) => String(fieldsOf(tool)["name"] ?? ""));
  },
  written: ({ name, description, inputSchema }) => ({
    type: "function",
    name,
    description,
    parameters: inputSchema,
    strict: false,
  }),
  stitch: (form, options) => (form === "stream" ? events(options) : wholeStitch((bodies) => merged(bodies, options))),
};

function isOurCall({ type, name }: JsonFields, { isOurs }: Pick<StitchOptions, "isOurs">): boolean {
  return type === "function_call" && isOurs(String(name));
}

const BEGINNINGS: readonly unknown[] = ["response.created", "response.queued", "response.in_progress"];
const ENDINGS: readonly unknown[] = ["response.completed", "response.incomplete"];

function events(options: StitchOptions): AnswerStitch {
  let round = 1;
  let sequence = 0;
  let items = 0;
  /** The items of this round by the provider's number: the client's number, or null for a call of ours. */
  let places = new Map<unknown, number | null>();
  let held: JsonFields | null = null;
  const bodies: JsonFields[] = [];
  const written = (fields: JsonFields): string =>
    `event: ${fields["type"]}\ndata: ${JSON.stringify({ ...fields, sequence_number: sequence++ })}\n\n`;
  return streamStitch({
    event(fields) {
      const { type, output_index: index } = fields;
      if (ENDINGS.includes(type)) {
        held = fields;
        return "";
      }
      const response = objectOf(fields["response"]);
      if (response !== null) {
        if (BEGINNINGS.includes(type) && round > 1) return "";
        return written({ ...fields, response: { ...response, ...echoed(options) } });
      }
      if (index === undefined) return written(fields);
      if (!places.has(index)) places.set(index, isOurCall(fieldsOf(fields["item"]), options) ? null : items++);
      const place = places.get(index) ?? null;
      return place === null ? "" : written({ ...fields, output_index: place });
    },
    close(next) {
      if (held !== null) bodies.push(fieldsOf(held["response"]));
      const end = held;
      [held, places] = [null, new Map()];
      round += 1;
      return next === "again" || end === null ? "" : written({ ...end, response: merged(bodies, options) });
    },
  });
}

/** A response repeats the request's tools: the client's own. */
function echoed({ tools }: Pick<StitchOptions, "tools">): JsonFields {
  return { tools: tools ?? [] };
}

function merged(bodies: readonly JsonFields[], options: StitchOptions): JsonFields {
  const output = bodies.flatMap((body) => listIn(body["output"])).filter((item) => !isOurCall(fieldsOf(item), options));
  const usage = addedUp(bodies.map((body) => body["usage"]));
  return { ...bodies.at(-1), ...echoed(options), id: bodies[0]!["id"], output, usage };
}
