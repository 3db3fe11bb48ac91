/** Tools of ours beside the client's in chat completions. */
import { eventText } from "../../http/event-stream.ts";
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

export const chatTools: VendorTools = {
  named({ tools, tool_choice: choice, functions, n }) {
    const isFree = choice == null || choice === "auto" || choice === "required";
    if (!isFree || functions != null || (typeof n === "number" && n > 1)) return null;
    return listIn(tools).map((tool) => nameOf(fieldsOf(tool)));
  },
  written: ({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }),
  stitch: (form, options) => (form === "stream" ? chunks(options) : wholeStitch((bodies) => merged(bodies, options))),
};

/** A custom tool has its name elsewhere. */
function nameOf({ function: called, custom }: JsonFields): string {
  return String(fieldsOf(called ?? custom)["name"] ?? "");
}

/** Between the texts of two rounds, which the client gets as one. */
const BETWEEN = "\n\n";

function chunks({ isOurs }: Pick<StitchOptions, "isOurs">): AnswerStitch {
  let round = 1;
  let id: unknown;
  let text: "none" | "said" | "said-before" = "none";
  const places = clientPlaces();
  let held: JsonFields[] = [];
  const usages: unknown[] = [];
  const chunk = (fields: JsonFields): string => eventText(JSON.stringify(round === 1 ? fields : { ...fields, id }));
  const shownDelta = (delta: JsonFields): JsonFields | null => {
    const { role, content, tool_calls: given, ...rest } = delta;
    const shown: Record<string, unknown> = { ...rest };
    if (round === 1 && role !== undefined) shown["role"] = role;
    if (content !== undefined && (round === 1 || (content !== "" && content !== null))) shown["content"] = content;
    if (typeof content === "string" && content !== "") {
      if (text === "said-before") shown["content"] = BETWEEN + content;
      text = "said";
    }
    const own = listIn(given).flatMap((one) => {
      const call = fieldsOf(one);
      const place = places.of(call["index"] ?? 0, isOurs(nameOf(call)));
      return place === null ? [] : [{ ...call, index: place }];
    });
    if (own.length > 0) shown["tool_calls"] = own;
    return Object.keys(shown).length === 0 ? null : shown;
  };
  return streamStitch({
    event(fields) {
      id ??= fields["id"];
      if (fields["error"] != null) return chunk(fields);
      const choice = objectOf(listIn(fields["choices"])[0]);
      if (choice === null) {
        held.push(fields);
        return "";
      }
      const delta = shownDelta(fieldsOf(choice["delta"]));
      if (choice["finish_reason"] != null) held.push({ ...fields, choices: [{ ...choice, delta: {} }] });
      if (delta === null) return "";
      return chunk({ ...fields, choices: [{ ...choice, delta, finish_reason: null }] });
    },
    close(next) {
      usages.push(held.findLast(({ usage }) => objectOf(usage) !== null)?.["usage"]);
      const usage = addedUp(usages);
      const end = held.map((fields) => chunk(objectOf(fields["usage"]) === null ? fields : { ...fields, usage }));
      held = [];
      places.nextRound();
      round += 1;
      if (text === "said") text = "said-before";
      return next === "again" ? "" : `${end.join("")}data: [DONE]\n\n`;
    },
  });
}

function merged(bodies: readonly JsonFields[], { isOurs }: Pick<StitchOptions, "isOurs">): JsonFields {
  const last = bodies.at(-1)!;
  const messages = bodies.map((body) => fieldsOf(choiceOf(body)["message"]));
  const joined = (name: string) => messages.map((message) => message[name]).filter((one) => one != null && one !== "");
  const calls = messages
    .flatMap(({ tool_calls: given }) => listIn(given))
    .filter((one) => !isOurs(nameOf(fieldsOf(one))));
  const { tool_calls: _, ...message } = messages.at(-1)!;
  const content = joined("content");
  const reasoning = joined("reasoning_content");
  return {
    ...last,
    id: bodies[0]!["id"],
    choices: [
      {
        ...choiceOf(last),
        message: {
          ...message,
          content: content.length === 0 ? (message["content"] ?? null) : content.join(BETWEEN),
          ...(reasoning.length > 0 && { reasoning_content: reasoning.join(BETWEEN) }),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
      },
    ],
    ...(objectOf(last["usage"]) !== null && { usage: addedUp(bodies.map(({ usage }) => usage)) }),
  };
}

const choiceOf = (body: JsonFields): JsonFields => fieldsOf(listIn(body["choices"])[0]);
