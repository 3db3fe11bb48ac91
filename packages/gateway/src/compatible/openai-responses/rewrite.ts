/**
 * An answer of the Responses API under another name: the events and the body that hold the whole response are written anew,
 * everything else passes as it came. Where a compaction was made for it, its item comes first and the others move up.
 */
import type { Fields } from "../vendor.ts";
import { bytesOf, formOf, type UpstreamAnswer } from "../wire/upstream.ts";

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
  const body = formOf(answer) === "stream" ? events(answer.body, rewriting) : whole(answer.body, rewriting);
  return { ...answer, headers, body };
}

async function* whole(body: AsyncIterable<Uint8Array>, rewriting: Rewriting): AsyncGenerator<Uint8Array> {
  const bytes = await bytesOf(body);
  const response = fieldsIn(bytes.toString());
  if (response === null) return yield bytes;
  const own = responseOf(response, rewriting);
  rewriting.seen(own, 0);
  yield Buffer.from(JSON.stringify(own));
}

/** Whole events at a time, as a client takes them in. */
async function* events(body: AsyncIterable<Uint8Array>, rewriting: Rewriting): AsyncGenerator<Uint8Array> {
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
    yield Buffer.from(blocks.map((block) => `${rewrite(block)}\n\n`).join(""));
  }
  if (rest !== "") yield Buffer.from(rest);
}

const BEGINNINGS: readonly unknown[] = ["response.created", "response.queued", "response.in_progress"];

function blockRewriter(rewriting: Rewriting): (block: string) => string {
  const { first } = rewriting;
  let isAdded = first === null;
  return (block) => {
    const event = fieldsIn(/^data: ?(.*)$/m.exec(block)?.[1] ?? "");
    if (event === null) return block;
    const { type, response, output_index: place } = event;
    const sequence = Number(event["sequence_number"] ?? 0);
    const whole = typeof response === "object" && response !== null ? responseOf(response as Fields, rewriting) : null;
    const isMoved = first !== null && !BEGINNINGS.includes(type);
    rewriting.seen(whole, isMoved ? sequence + 2 : sequence);
    if (whole === null && !isMoved) return block;
    const own = eventText({
      ...event,
      ...(isMoved && { sequence_number: sequence + 2 }),
      ...(isMoved && typeof place === "number" && { output_index: place + 1 }),
      ...(whole !== null && { response: whole }),
    });
    if (isAdded || !isMoved) return own;
    isAdded = true;
    return `${added(first!, sequence)}\n\n${own}`;
  };
}

/** The item of the compaction, before everything else that is said. */
function added(item: Fields, sequence: number): string {
  const { encrypted_content: _, ...opened } = item;
  return [
    eventText({
      type: "response.output_item.added",
      sequence_number: sequence,
      output_index: 0,
      item: { ...opened, encrypted_content: "" },
    }),
    eventText({ type: "response.output_item.done", sequence_number: sequence + 1, output_index: 0, item }),
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
