/** Tools of ours beside the client's in OpenAI's responses. */
import { typedEvent } from "../../http/event-stream.ts";
import { fieldsOf, type JsonFields, listIn, objectOf } from "../../http/read-json.ts";
import {
  type AnswerStitch,
  addedUp,
  clientPlaces,
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
  const places = clientPlaces();
  let held: JsonFields | null = null;
  const bodies: JsonFields[] = [];
  const written = (fields: JsonFields): string => typedEvent({ ...fields, sequence_number: sequence++ });
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
      const place = places.of(index, isOurCall(fieldsOf(fields["item"]), options));
      return place === null ? "" : written({ ...fields, output_index: place });
    },
    close(next) {
      if (held !== null) bodies.push(fieldsOf(held["response"]));
      const end = held;
      held = null;
      places.nextRound();
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
