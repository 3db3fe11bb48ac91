/**
 * A compaction as OpenAI's clients carry it: an item whose content they hand back unread. Ours is the summary as readable
 * text, behind a signed pointer to the place in the thread up to which it summarizes. A request with the item continues
 * at that place, so the log keeps every message. Items made by others are passed on.
 */

import type { ThreadHeader } from "@palimpsest/core/internal/log";
import { isRecord } from "@palimpsest/core/internal/text";
import type { Store } from "palimpsest/stores";
import { typedEvent } from "../../http/event-stream.ts";
import { fieldsOf, type JsonFields, listIn, parseFields } from "../../http/read-json.ts";
import type { ServerThreadPlace } from "../answer.ts";
import type { Secret } from "../match.ts";
import { pointedPlace, signPointer } from "../pointer.ts";
import type { UpstreamAnswer } from "../upstream.ts";
import { rewrittenAnswer } from "../written-answer.ts";

const MARK = "palimpsest ";
const KIND = "compaction";

interface CompactionPlace {
  readonly seq: number;
  /** What the conversation is known by there. */
  readonly hash: string;
  readonly text: string;
}

export function compactionItem(
  header: ThreadHeader,
  { seq, hash, text }: CompactionPlace,
  { secret, id }: { readonly secret: Secret; readonly id: string },
): JsonFields {
  const token = signPointer(header, { seq, salt: hash }, { secret, kind: KIND, about: text });
  return { type: "compaction", id: `cmp_${id}`, encrypted_content: `${MARK}${token}\n${text}` };
}

/** Whether it has our mark. Its signature is checked elsewhere. */
export function isOurs(item: JsonFields): boolean {
  const { type, encrypted_content: content } = item;
  return type === "compaction" && typeof content === "string" && content.startsWith(MARK);
}

/** Null: it was edited, is another user's, or its thread is gone. */
export async function compactedPlace(
  store: Pick<Store, "header" | "head">,
  item: JsonFields,
  secret: Secret,
): Promise<ServerThreadPlace | null> {
  const content = String(item["encrypted_content"]).slice(MARK.length);
  const end = content.indexOf("\n");
  if (end === -1) return null;
  return pointedPlace(store, content.slice(0, end), { secret, kind: KIND, about: content.slice(end + 1) });
}

/*
 * An answer of the Responses API under another name: the events and the body that hold the whole response are written anew,
 * everything else passes as it came. Where a compaction was made for it, its item comes first and the others move up.
 */

interface ResponseRewriting {
  /** JsonFields of the response that are ours. */
  readonly fields: JsonFields;
  /** What comes before the provider's items. */
  readonly first: JsonFields | null;
  /** Each response that passes, and the number of the last event. */
  seen(response: JsonFields | null, sequence: number): void;
}

export function rewritten(answer: UpstreamAnswer, rewriting: ResponseRewriting): UpstreamAnswer {
  return rewrittenAnswer(answer, {
    events: (body) => events(body, rewriting),
    whole(response) {
      const own = responseOf(response, rewriting);
      rewriting.seen(own, 0);
      return own;
    },
  });
}

/** Whole events at a time, as a client takes them in. */
async function* events(body: AsyncIterable<Uint8Array>, rewriting: ResponseRewriting): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  const rewrite = blockRewriter(rewriting);
  let rest = "";
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true });
    if (rest.includes("\r")) rest = rest.replaceAll("\r\n", "\n");
    const end = rest.lastIndexOf("\n\n");
    if (end === -1) continue;
    const blocks = rest.slice(0, end).split("\n\n");
    rest = rest.slice(end + 2);
    yield Buffer.from(blocks.map(rewrite).join(""));
  }
  if (rest !== "") yield Buffer.from(rest);
}

const BEGINNINGS: readonly unknown[] = ["response.created", "response.queued", "response.in_progress"];

function blockRewriter(rewriting: ResponseRewriting): (block: string) => string {
  const { first } = rewriting;
  let isAdded = first === null;
  return (block) => {
    const unchanged = `${block}\n\n`;
    const event = parseFields(/^data: ?(.*)$/m.exec(block)?.[1] ?? "");
    if (event === null) return unchanged;
    const { type, response, output_index: place } = event;
    const sequence = Number(event["sequence_number"] ?? 0);
    const whole = isRecord(response) ? responseOf(response, rewriting) : null;
    const isMoved = first !== null && !BEGINNINGS.includes(type);
    rewriting.seen(whole, isMoved ? sequence + 2 : sequence);
    if (whole === null && !isMoved) return unchanged;
    const own = typedEvent({
      ...event,
      ...(isMoved && { sequence_number: sequence + 2 }),
      ...(isMoved && typeof place === "number" && { output_index: place + 1 }),
      ...(whole !== null && { response: whole }),
    });
    if (isAdded || !isMoved) return own;
    isAdded = true;
    return added(first!, sequence) + own;
  };
}

/** The item of the compaction, before everything else that is said. */
function added(item: JsonFields, sequence: number): string {
  const { encrypted_content: _, ...opened } = item;
  const opening = { ...opened, encrypted_content: "" };
  return [
    { type: "response.output_item.added", sequence_number: sequence, output_index: 0, item: opening },
    { type: "response.output_item.done", sequence_number: sequence + 1, output_index: 0, item },
  ]
    .map(typedEvent)
    .join("");
}

function responseOf(response: JsonFields, { fields, first }: ResponseRewriting): JsonFields {
  const output = listIn(response["output"]);
  const isBegun = response["status"] === "in_progress" || response["status"] === "queued";
  return { ...response, ...fields, output: first === null || isBegun ? output : [first, ...output] };
}

/* The events that a response would have been streamed as. Pure. */

type NumberedEvent = JsonFields & { readonly type: string; readonly sequence_number: number };

/** `last`: the number of the last event when it was made. Everything that says something whole stands at the end. */
export function eventsOf(response: JsonFields, last: number): readonly NumberedEvent[] {
  const begun = { ...response, status: "in_progress", output: [], usage: null, error: null, incomplete_details: null };
  const output = listIn(response["output"]).map(fieldsOf);
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

type Event = JsonFields & { readonly type: string };

function itemEvents(item: JsonFields, index: number): readonly Event[] {
  const at = { output_index: index };
  const inner = { ...at, item_id: item["id"] };
  const opened = "content" in item ? { ...item, content: [] } : item;
  return [
    {
      type: "response.output_item.added",
      ...at,
      item: item["type"] === "function_call" ? { ...item, arguments: "" } : opened,
    },
    ...(item["type"] === "message" ? contentEvents(listIn(item["content"]).map(fieldsOf), inner) : []),
    ...(item["type"] === "function_call" ? callEvents(item, inner) : []),
    { type: "response.output_item.done", ...at, item },
  ];
}

function callEvents(item: JsonFields, inner: JsonFields): readonly Event[] {
  const { name, arguments: input } = item;
  return [
    { type: "response.function_call_arguments.delta", ...inner, delta: input },
    { type: "response.function_call_arguments.done", ...inner, name, arguments: input },
  ];
}

function contentEvents(content: readonly JsonFields[], inner: JsonFields): readonly Event[] {
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
