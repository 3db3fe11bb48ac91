/** The events that a response would have been streamed as. Pure. */
import type { Fields } from "../vendor.ts";

type NumberedEvent = Fields & { readonly type: string; readonly sequence_number: number };

/** `last`: the number of the last event when it was made. Everything that says something whole stands at the end. */
export function eventsOf(response: Fields, last: number): readonly NumberedEvent[] {
  const begun = { ...response, status: "in_progress", output: [], usage: null, error: null, incomplete_details: null };
  const output = response["output"] as readonly Fields[];
  const events = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...output.flatMap((item, index) => itemEvents(item, index)),
    { type: FINAL[String(response["status"])] ?? "response.failed", response },
  ];
  const late = Math.max(0, last - (events.length - 1));
  const whole = events.findIndex(({ type }) => type.endsWith(".done"));
  const from = whole === -1 ? events.length - 1 : whole;
  return events.map((event, index) => ({ ...event, sequence_number: index + (index >= from ? late : 0) }));
}

const FINAL: Readonly<Record<string, string>> = {
  completed: "response.completed",
  incomplete: "response.incomplete",
};

type Event = Fields & { readonly type: string };

function itemEvents(item: Fields, index: number): readonly Event[] {
  const at = { output_index: index };
  const inner = { ...at, item_id: item["id"] };
  const opened = "content" in item ? { ...item, content: [] } : item;
  return [
    {
      type: "response.output_item.added",
      ...at,
      item: item["type"] === "function_call" ? { ...item, arguments: "" } : opened,
    },
    ...(item["type"] === "message" ? contentEvents(item["content"] as readonly Fields[], inner) : []),
    ...(item["type"] === "function_call" ? callEvents(item, inner) : []),
    { type: "response.output_item.done", ...at, item },
  ];
}

function callEvents(item: Fields, inner: Fields): readonly Event[] {
  const { name, arguments: input } = item;
  return [
    { type: "response.function_call_arguments.delta", ...inner, delta: input },
    { type: "response.function_call_arguments.done", ...inner, name, arguments: input },
  ];
}

function contentEvents(content: readonly Fields[], inner: Fields): readonly Event[] {
  return content.flatMap((part, index): Event[] => {
    const at = { ...inner, content_index: index };
    if (part["type"] !== "output_text")
      return [
        { type: "response.content_part.added", ...at, part },
        { type: "response.content_part.done", ...at, part },
      ];
    const { text } = part;
    return [
      { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
      { type: "response.output_text.delta", ...at, delta: text, logprobs: [] },
      { type: "response.output_text.done", ...at, text, logprobs: [] },
      { type: "response.content_part.done", ...at, part },
    ];
  });
}
