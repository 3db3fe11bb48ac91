/**
 * An answer of the Messages API under a name of ours: its id, what was edited for it, and a compaction that was made for it
 * as its first block. Everything else passes as it came. And an answer that is nothing but such a block.
 */
import type { Fields } from "../vendor.ts";
import { dataOf, eventParser, type ServerEvent } from "../wire/server-events.ts";
import { bytesOf, formOf, type UpstreamAnswer } from "../wire/upstream.ts";

export interface Rewriting {
  /** Null: as the provider calls it. */
  readonly id: string | null;
  readonly first: Fields | null;
  /** What `context_management` says in the answer; null: it wasn't asked for. */
  readonly edits: readonly Fields[] | null;
}

export function rewritten(answer: UpstreamAnswer, rewriting: Rewriting): UpstreamAnswer {
  const { "content-length": _, ...headers } = answer.headers;
  const body = formOf(answer) === "stream" ? events(answer.body, rewriting) : whole(answer.body, rewriting);
  return { ...answer, headers, body };
}

async function* whole(body: AsyncIterable<Uint8Array>, { id, first, edits }: Rewriting): AsyncGenerator<Uint8Array> {
  const bytes = await bytesOf(body);
  const message = dataOf({ data: bytes.toString() });
  if (message === null) return yield bytes;
  const content = Array.isArray(message["content"]) ? (message["content"] as readonly unknown[]) : [];
  const own = {
    ...message,
    ...(id !== null && { id }),
    ...(first !== null && { content: [first, ...content] }),
    ...managed(edits),
  };
  yield Buffer.from(JSON.stringify(own));
}

const managed = (edits: readonly Fields[] | null) =>
  edits === null ? {} : { context_management: { applied_edits: edits } };

async function* events(body: AsyncIterable<Uint8Array>, rewriting: Rewriting): AsyncGenerator<Uint8Array> {
  const parse = eventParser();
  for await (const piece of body) {
    const texts = parse(piece).map((event) => eventOf(event, rewriting));
    if (texts.length > 0) yield Buffer.from(texts.join(""));
  }
}

function eventOf(event: ServerEvent, { id, first, edits }: Rewriting): string {
  const fields = dataOf(event);
  if (fields === null) return `${event.name === null ? "" : `event: ${event.name}\n`}data: ${event.data}\n\n`;
  switch (fields["type"]) {
    case "message_start": {
      const message = { ...(fields["message"] as Fields), ...(id !== null && { id }) };
      return eventText({ ...fields, message }) + (first === null ? "" : blockEvents(first));
    }
    case "message_delta":
      return eventText({ ...fields, ...managed(edits) });
    default:
      return eventText(
        first !== null && typeof fields["index"] === "number" ? { ...fields, index: fields["index"] + 1 } : fields,
      );
  }
}

/** Its text comes in one piece, as theirs does. */
function blockEvents(block: Fields): string {
  const { content, encrypted_content: encrypted, ...rest } = block;
  return [
    { type: "content_block_start", index: 0, content_block: { ...rest, content: null, encrypted_content: null } },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "compaction_delta", content, encrypted_content: encrypted },
    },
    { type: "content_block_stop", index: 0 },
  ]
    .map(eventText)
    .join("");
}

const eventText = (event: Fields): string => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`;

const USAGE = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };

/** No provider was asked: nothing is charged for it. */
export function blockAnswer(given: {
  readonly id: string;
  readonly model: string;
  readonly block: Fields;
  readonly edits: readonly Fields[] | null;
  readonly form: "stream" | "whole";
}): UpstreamAnswer {
  const { id, model, block, edits, form } = given;
  const end = { stop_reason: "compaction", stop_sequence: null };
  const message = { id, type: "message", role: "assistant", model, usage: USAGE };
  if (form === "whole")
    return answerOf("application/json", JSON.stringify({ ...message, content: [block], ...end, ...managed(edits) }));
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null };
  return answerOf(
    "text/event-stream; charset=utf-8",
    [
      eventText({ type: "message_start", message: begun }),
      blockEvents(block),
      eventText({ type: "message_delta", delta: end, usage: USAGE, ...managed(edits) }),
      eventText({ type: "message_stop" }),
    ].join(""),
  );
}

function answerOf(type: string, text: string): UpstreamAnswer {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text);
  }
  return { status: 200, headers: { "content-type": type }, body: bytes() };
}
