/**
 * A compaction that is asked for: `POST /responses/compact`, and a request that ends with a `compaction_trigger`. What the
 * request says is written to the log, the thread is compacted there, and the client gets an item that points to it.
 */
import type { ResponsesItem, ResponsesMessage } from "@palimpsest/core/message";
import { responsesItems } from "@palimpsest/core/message";
import type { OpenThread } from "palimpsest/session";
import { answerWith } from "../counting.ts";
import type { Exchange } from "../exchange.ts";
import type { Begun } from "../held.ts";
import type { Secret } from "../matching/chain.ts";
import { shownSummary } from "../threads/summary.ts";
import type { Fields } from "../vendor.ts";
import { compactionItem } from "./compaction-item.ts";
import { eventsOf } from "./response-events.ts";
import { compactedId } from "./response-ids.ts";
import { eventText } from "./rewrite.ts";
import { responsesShape } from "./shape.ts";
import { responsesUsage } from "./usage.ts";

interface Compacting {
  readonly begun: Omit<Begun, "flight">;
  readonly thread: OpenThread<ResponsesMessage>;
  readonly secret: Secret;
}

interface Compacted {
  readonly id: string;
  readonly created: number;
  readonly item: Fields;
  /** What the user said that is still shown. */
  readonly said: readonly ResponsesItem[];
}

/** As a response whose only item is the compaction. */
export async function compactedResponse(exchange: Exchange<ResponsesMessage>, compacting: Compacting): Promise<void> {
  const { call, request, body } = exchange;
  const { id, created, item } = await compacted(exchange, compacting);
  const response = {
    id,
    object: "response",
    created_at: created,
    status: "completed",
    model: request.model,
    output: [item],
    error: null,
    incomplete_details: null,
    instructions: body["instructions"] ?? null,
    metadata: body["metadata"] ?? {},
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: "auto",
    tools: [],
    top_p: null,
    usage: NO_USAGE,
  };
  if (!request.stream) return answerWith(call, response);
  call.client.head(200, { "content-type": "text/event-stream; charset=utf-8", ...call.own });
  for (const event of eventsOf(response, 0)) await call.client.write(Buffer.from(`${eventText(event)}\n\n`));
  call.client.end();
}

/** As `POST /responses/compact` answers it. */
export async function compactionOf(exchange: Exchange<ResponsesMessage>, compacting: Compacting): Promise<void> {
  const { id, created, item, said } = await compacted(exchange, compacting);
  const output = [...said, item];
  answerWith(exchange.call, { id, object: "response.compaction", created_at: created, output, usage: NO_USAGE });
}

async function compacted(
  { call, request }: Exchange<ResponsesMessage>,
  { begun, thread, secret }: Compacting,
): Promise<Compacted> {
  const { store, clock, ids } = call.threads;
  const { threadId, hash } = begun;
  const { system, tools } = request;
  await thread.compact();
  const { messages, sources, version: seq } = await thread.prompt({ fixed: { system, tools } });
  const header = (await store.header(threadId))!;
  const text = (await shownSummary(store, threadId))?.text ?? NOTHING_HIDDEN;
  const shown = messages.filter((message, index) => sources[index] !== "summary" && isUsers(message));
  return {
    id: compactedId(header, { seq, hash }, secret),
    created: Math.floor(clock().getTime() / 1000),
    item: compactionItem(header, { seq, hash, text }, { secret, id: ids().replaceAll("-", "") }),
    said: responsesItems(shown),
  };
}

const isUsers = (message: ResponsesMessage): boolean => responsesShape.role(message) === "user";

const NOTHING_HIDDEN = "The conversation is short: all of it is still shown.";

/** What a model was asked for it is no part of this request. */
const NO_USAGE = responsesUsage({ input: 0, output: 0, cached: 0 });
