/** Tools of ours beside the client's in Anthropic's messages. */
import { typedEvent } from "../../http/event-stream.ts";
import { fieldsOf, type JsonFields, listIn } from "../../http/read-json.ts";
import {
  type AnswerStitch,
  addedUp,
  clientPlaces,
  type StitchOptions,
  streamStitch,
  type VendorTools,
  wholeStitch,
} from "./stitch.ts";

export const messagesTools: VendorTools = {
  named({ tools, tool_choice: choice }) {
    const { type = "auto" } = fieldsOf(choice);
    if (type !== "auto" && type !== "any") return null;
    return listIn(tools).map((tool) => String(fieldsOf(tool)["name"] ?? ""));
  },
  written: ({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }),
  stitch: (form, options) => (form === "stream" ? events(options) : wholeStitch((bodies) => merged(bodies, options))),
};

type OurNames = Pick<StitchOptions, "isOurs">;

function isOurCall({ type, name }: JsonFields, { isOurs }: OurNames): boolean {
  return type === "tool_use" && isOurs(String(name));
}

function events(options: OurNames): AnswerStitch {
  let round = 1;
  const places = clientPlaces();
  let usage: unknown = null;
  let held: JsonFields[] = [];
  const usages: unknown[] = [];
  return streamStitch({
    event(fields) {
      switch (fields["type"]) {
        case "message_start":
          usage = fieldsOf(fields["message"])["usage"];
          return round === 1 ? typedEvent(fields) : "";
        case "content_block_start":
        case "content_block_delta":
        case "content_block_stop": {
          const place = places.of(fields["index"], isOurCall(fieldsOf(fields["content_block"]), options));
          return place === null ? "" : typedEvent({ ...fields, index: place });
        }
        case "message_delta":
        case "message_stop":
          if (fields["usage"] != null) usage = { ...fieldsOf(usage), ...fieldsOf(fields["usage"]) };
          held.push(fields);
          return "";
        default:
          return typedEvent(fields);
      }
    },
    close(next) {
      usages.push(usage);
      const total = addedUp(usages);
      const isOne = round === 1;
      const end = held.map((fields) =>
        typedEvent(isOne || fields["usage"] == null ? fields : { ...fields, usage: total }),
      );
      held = [];
      places.nextRound();
      round += 1;
      return next === "again" ? "" : end.join("");
    },
  });
}

function merged(bodies: readonly JsonFields[], options: OurNames): JsonFields {
  const content = bodies.flatMap((body) => listIn(body["content"])).filter((one) => !isOurCall(fieldsOf(one), options));
  return { ...bodies.at(-1), id: bodies[0]!["id"], content, usage: addedUp(bodies.map(({ usage }) => usage)) };
}
