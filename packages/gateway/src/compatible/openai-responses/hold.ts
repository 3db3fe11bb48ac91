/**
 * A request of the Responses API that is served from the log: `previous_response_id`, `conversation` and compaction items
 * say where it goes on, `store` and `background` how its answer can be asked for, `context_management` when it is compacted.
 */

import type { ResponsesItem, ResponsesMessage } from "@palimpsest/core/internal/message";
import { responsesItems, responsesTurns } from "@palimpsest/core/internal/message";
import type { OpenThread } from "palimpsest/session";
import { typedEvent } from "../../http/event-stream.ts";
import { fieldsOf, type JsonFields, listIn } from "../../http/read-json.ts";
import type { AnswerStart, NamedAnswer, ServerThread, ServerThreadPlace } from "../answer.ts";
import { answerWith } from "../counting.ts";
import { leadingIn } from "../front.ts";
import type { Secret } from "../match.ts";
import { lengthRule } from "../policy.ts";
import { shownSummary } from "../prompt.ts";
import type { ParsedRequest } from "../request.ts";
import { compactedPlace, compactionItem, eventsOf, isOurs, rewritten } from "./compaction-item.ts";
import { conversationPlace, isConversationId, withoutReferences } from "./conversations.ts";
import {
  conversationLocked,
  noConversation,
  noPrevious,
  notVerified,
  readParams,
  responseBody,
  responsesShape,
  responsesUsage,
  type ServerParams,
  WITHHELD,
} from "./params.ts";
import {
  compactedId,
  compactedPlaceOf,
  findResponse,
  isOurId,
  type LiveResponse,
  placeAfter,
  type ResponseReceipt,
  responseId,
} from "./response-ids.ts";

type Responses = ParsedRequest<ResponsesMessage>;

export async function holdResponses(parsed: Responses): Promise<Responses> {
  const { body, deps, request } = parsed;
  const params = readParams(body);
  if (isForeign(params)) return passed(parsed, params);
  const secret = Buffer.from(await deps.secret());
  const items = inputOf(body);
  const compacted = params.previous === null && params.conversation === null ? items.findLastIndex(isOurs) : -1;
  const place = await placeOf(parsed, { params, secret, compacted: items[compacted] ?? null, at: compacted });
  if (place === null && request.reference === "item" && params.trigger === "no") return parsed;
  const { store, background } = params;
  const threshold = lengthRule(parsed.policy).vendors === "serve" ? params.threshold : null;
  if (place === null && store === "no" && threshold === null && params.trigger === "no") return parsed;
  const rest = items.slice(compacted + 1).filter((item) => !isOurs(item) && item["type"] !== "compaction_trigger");
  const held: ServerThread<ResponsesMessage> = {
    place,
    withheld: WITHHELD.filter((name) => body[name] != null),
    threshold,
    lasts: background === "yes" ? "forever" : "while-heard",
    instead: params.trigger === "yes" ? (begun, thread) => compactedResponse(parsed, { begun, thread, secret }) : null,
    begin: (begun) => namedResponse(parsed, { params, secret, begun }),
  };
  if (place === null && params.trigger === "no") return { ...parsed, held };
  const said = place === null ? rest : await withoutReferences(parsed.call.threads.store, place.threadId, rest);
  return {
    ...parsed,
    held,
    request: { ...request, ...readItems(said, compacted === -1 ? null : request.leading), reference: null },
  };
}

/** What is handed on as it came: only OpenAI knows what these ids stand for. */
function passed(parsed: Responses, { previous, conversation }: ServerParams): Responses {
  if (parsed.target.way === "raw") return parsed;
  throw previous !== null ? noPrevious(previous) : noConversation(conversation!);
}

function isForeign({ previous, conversation }: ServerParams): boolean {
  return (previous !== null && !isOurId(previous)) || (conversation !== null && !isConversationId(conversation));
}

function inputOf({ input }: JsonFields): readonly ResponsesItem[] {
  return (typeof input === "string" ? [{ role: "user", content: input }] : listIn(input)) as readonly ResponsesItem[];
}

/** System messages at the front are sent as they came; those that came before a compaction item still are. */
function readItems(items: readonly ResponsesItem[], before: readonly unknown[] | null) {
  const leading = leadingIn(items, responsesShape);
  return { leading: before ?? leading, messages: responsesTurns(items.slice(before === null ? leading.length : 0)) };
}

interface CompactionOptions {
  readonly params: ServerParams;
  readonly secret: Secret;
  readonly compacted: ResponsesItem | null;
  readonly at: number;
}

async function placeOf(
  { call }: Responses,
  { params, secret, compacted, at }: CompactionOptions,
): Promise<ServerThreadPlace | null> {
  const { store } = call.threads;
  const { previous, conversation } = params;
  if (previous !== null) {
    const found = await findResponse(store, previous, secret);
    const place = found === null ? await compactedPlaceOf(store, previous, secret) : placeAfter(found, secret);
    if (place === null) throw noPrevious(previous);
    return place;
  }
  if (conversation !== null) {
    const place = await conversationPlace(store, conversation, { secret, locked: conversationLocked() });
    if (place === null) throw noConversation(conversation);
    return place;
  }
  if (compacted === null) return null;
  const place = await compactedPlace(store, compacted, secret);
  if (place === null) throw notVerified(`input[${at}].encrypted_content`);
  return place;
}

/* The answer to a request that is held: its id, what its client sees of it while it is made, and what is kept of it. */

interface ResponseNaming {
  readonly params: ServerParams;
  readonly secret: Secret;
  readonly begun: AnswerStart;
}

async function namedResponse(
  parsed: ParsedRequest<ResponsesMessage>,
  { params, secret, begun }: ResponseNaming,
): Promise<NamedAnswer<ResponsesMessage>> {
  const { call, deps, body, request } = parsed;
  const { ids, store, clock } = call.threads;
  const header = await store.header(begun.threadId);
  // It was deleted just now.
  if (header === undefined) throw noPrevious(params.previous ?? "");
  const { userId } = call.caller;
  const isStored = params.store === "yes";
  const id = isStored ? responseId(header, begun, { secret, unique: ids() }) : ids();
  const fields = isStored ? ownFields(id, params) : {};
  const created = Math.floor(clock().getTime() / 1000);
  const isLater = params.background === "yes" && !request.stream;
  const { live, end } = liveOf(begun, {
    params,
    stream: request.stream,
    response: begunResponse(body, { ...fields, id, created }),
  });
  if (isStored) deps.responses.put(userId, id, live);
  if (isLater) answerWith(call, live.response);
  let sequence = 0;
  let told: ResponseReceipt["compaction"] = null;
  return {
    id,
    client: isLater ? "later" : "now",
    rewrite(answer, compaction) {
      const { hash } = begun;
      told = compaction && { record: compaction.record ?? 0, seq: compaction.seq, hash, id: ids().replaceAll("-", "") };
      const first = told && compactionItem(header, { ...told, text: compaction!.text }, { secret, id: told.id });
      if (!isStored && first === null) return answer;
      return rewritten(answer, {
        fields,
        first,
        seen(response, number) {
          sequence = number;
          if (response !== null) live.response = response;
        },
      });
    },
    receipt(answer, failure) {
      if (!isStored) return null;
      if (failure !== null && params.background === "no") return null;
      const response = endedResponse(live, answer?.state ?? "failed", failure);
      live.response = response;
      const { output: _, tools: __, instructions: ___, ...kept } = response;
      const { instructions } = body;
      const receipt: ResponseReceipt = {
        type: "response",
        response: id,
        status: String(kept["status"]),
        sequence,
        fields: kept,
        instructions: typeof instructions === "string" ? instructions.length : null,
        compaction: told,
      };
      return receipt;
    },
    end,
  };
}

/** What OpenAI's own server would say of a response that it holds. */
function ownFields(id: string, { previous, conversation, background }: ServerParams): JsonFields {
  return {
    id,
    previous_response_id: previous,
    conversation: conversation === null ? null : { id: conversation },
    background: background === "yes",
    store: true,
  };
}

function liveOf(
  { flight }: AnswerStart,
  {
    params,
    stream,
    response,
  }: { readonly params: ServerParams; readonly stream: boolean; readonly response: JsonFields },
): { readonly live: LiveResponse; end(): void } {
  const ended = Promise.withResolvers<void>();
  const live: LiveResponse = {
    flight,
    background: params.background,
    stream,
    state: "running",
    response,
    ended: ended.promise,
  };
  return {
    live,
    end() {
      live.state = "ended";
      ended.resolve();
    },
  };
}

/** Before the provider has said anything. */
function begunResponse(body: JsonFields, { created, ...own }: JsonFields): JsonFields {
  const given = ["max_output_tokens", "text", "reasoning", "truncation"];
  const echoed = Object.fromEntries(given.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]])));
  const status = own["background"] === true ? "queued" : "in_progress";
  return responseBody(body, { ...echoed, ...own, created_at: created, status, model: body["model"], output: [] });
}

const DONE = ["completed", "incomplete", "failed", "cancelled"];

/** As it has ended, also where the provider had no word for it. */
function endedResponse(live: LiveResponse, state: string, failure: unknown): JsonFields {
  const { response } = live;
  if (live.state === "cancelled") return { ...response, status: "cancelled" };
  if (DONE.includes(String(response["status"])) && failure === null) return response;
  const isWhole = failure === null && (state === "ended" || state === "ending");
  if (isWhole) return { ...response, status: "completed" };
  const message = failure instanceof Error ? failure.message : messageIn(failure);
  return { ...response, status: "failed", error: { code: "server_error", message } };
}

function messageIn(failure: unknown): string {
  const { message } = fieldsOf(failure);
  return typeof message === "string" && message !== "" ? message : "the answer was cut off";
}

/*
 * A compaction that is asked for: `POST /responses/compact`, and a request that ends with a `compaction_trigger`. What the
 * request says is written to the log, the thread is compacted there, and the client gets an item that points to it.
 */

interface Compacting {
  readonly begun: Omit<AnswerStart, "flight">;
  readonly thread: OpenThread<ResponsesMessage>;
  readonly secret: Secret;
}

interface CompactedThread {
  readonly id: string;
  readonly created: number;
  readonly item: JsonFields;
  /** What the user said that is still shown. */
  readonly said: readonly ResponsesItem[];
}

/** As a response whose only item is the compaction. */
async function compactedResponse(parsed: ParsedRequest<ResponsesMessage>, compacting: Compacting): Promise<void> {
  const { call, request, body } = parsed;
  const { id, created, item } = await compacted(parsed, compacting);
  const { instructions, metadata } = body;
  const own = { id, created_at: created, status: "completed", model: request.model };
  const response = responseBody({ instructions, metadata }, { ...own, output: [item], usage: NO_USAGE });
  if (!request.stream) return answerWith(call, response);
  call.client.head(200, { "content-type": "text/event-stream; charset=utf-8", ...call.own });
  for (const event of eventsOf(response, 0)) await call.client.write(Buffer.from(typedEvent(event)));
  call.client.end();
}

/** As `POST /responses/compact` answers it. */
export async function compactionOf(parsed: ParsedRequest<ResponsesMessage>, compacting: Compacting): Promise<void> {
  const { id, created, item, said } = await compacted(parsed, compacting);
  const output = [...said, item];
  answerWith(parsed.call, { id, object: "response.compaction", created_at: created, output, usage: NO_USAGE });
}

async function compacted(
  { call, request }: ParsedRequest<ResponsesMessage>,
  { begun, thread, secret }: Compacting,
): Promise<CompactedThread> {
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
