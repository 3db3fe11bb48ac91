/**
 * An answer of the Responses API under another name: the events and the body that hold the whole response are written anew,
 * everything else passes as it came. Where a compaction was made for it, its item comes first and the others move up.
 */
import type { Fields } from "../vendor.ts";
import type { UpstreamAnswer } from "../wire/upstream.ts";

export interface Rewriting {
  /** Fields of the response that are ours. */
  readonly fields: Fields;
  /** What comes before the provider's items. */
  readonly first: Fields | null;
  /** Each response that passes, and the number of the last event. */
  seen(response: Fields | null, sequence: number): void;
}

export function rewritten(answer: UpstreamAnswer, rewriting: Rewriting): UpstreamAnswer {
  const { "content-length": _, ...headers } = answer.headers;
  const isStream = /text\/event-stream/i.test(String(headers["content-type"] ?? ""));
  return { ...answer, headers, body: isStream ? events(answer.body, rewriting) : whole(answer.body, rewriting) };
}

async function* whole(body: AsyncIterable<Uint8Array>, rewriting: Rewriting): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  const response = fieldsIn(bytes.toString());
  if (response === null) return yield bytes;
  const own = responseOf(response, rewriting);
  rewriting.seen(own, 0);
  yield Buffer.from(JSON.stringify(own));
}

/** Whole events at a time, as a client takes them in. */
async function* events(body: AsyncIterable<Uint8Array>, rewriting: Rewriting): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true });
    if (rest.includes("\r")) rest = rest.replaceAll("\r\n", "\n");
    const end = rest.lastIndexOf("\n\n");
    if (end === -1) continue;
    const blocks = rest.slice(0, end).split("\n\n");
    rest = rest.slice(end + 2);
    yield Buffer.from(blocks.map((block) => `${blockOf(block, rewriting)}\n\n`).join(""));
  }
  if (rest !== "") yield Buffer.from(rest);
}

function blockOf(block: string, rewriting: Rewriting): string {
  const { first } = rewriting;
  const event = fieldsIn(/^data: ?(.*)$/m.exec(block)?.[1] ?? "");
  if (event === null) return block;
  const { response } = event;
  const isLifecycle = typeof response === "object" && response !== null;
  const sequence = Number(event["sequence_number"] ?? 0);
  if (!isLifecycle && first === null) {
    rewriting.seen(null, sequence);
    return block;
  }
  const isFirst =
    event["type"] === "response.created" ||
    event["type"] === "response.queued" ||
    event["type"] === "response.in_progress";
  const moved = {
    ...event,
    ...(first !== null && !isFirst && { sequence_number: sequence + 2 }),
    ...(first !== null && typeof event["output_index"] === "number" && { output_index: event["output_index"] + 1 }),
    ...(isLifecycle && { response: responseOf(response as Fields, rewriting) }),
  };
  rewriting.seen(((moved as Fields)["response"] as Fields) ?? null, Number((moved as Fields)["sequence_number"] ?? 0));
  const own = eventText(moved);
  return event["type"] === "response.in_progress" && first !== null ? `${own}\n\n${added(first, sequence)}` : own;
}

/** The item of the compaction, right after the beginning. */
function added(item: Fields, sequence: number): string {
  const { encrypted_content: _, ...opened } = item;
  return [
    eventText({
      type: "response.output_item.added",
      sequence_number: sequence + 1,
      output_index: 0,
      item: { ...opened, encrypted_content: "" },
    }),
    eventText({ type: "response.output_item.done", sequence_number: sequence + 2, output_index: 0, item }),
  ].join("\n\n");
}

function responseOf(response: Fields, { fields, first }: Rewriting): Fields {
  const output = Array.isArray(response["output"]) ? (response["output"] as readonly unknown[]) : [];
  const isBegun = response["status"] === "in_progress" || response["status"] === "queued";
  return { ...response, ...fields, output: first === null || isBegun ? output : [first, ...output] };
}

export function eventText(event: Fields): string {
  return `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}`;
}

function fieldsIn(text: string): Fields | null {
  if (!text.startsWith("{")) return null;
  try {
    return JSON.parse(text) as Fields;
  } catch {
    return null;
  }
}
