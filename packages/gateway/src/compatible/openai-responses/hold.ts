/**
 * A request of the Responses API that is served from the log: `previous_response_id`, `conversation` and compaction items
 * say where it goes on, `store` and `background` how its answer can be asked for, `context_management` when it is compacted.
 */
import { type ResponsesItem, type ResponsesMessage, responsesTurns } from "@palimpsest/core/message";
import type { Exchange } from "../exchange.ts";
import type { Held, HeldPlace } from "../held.ts";
import type { Secret } from "../matching/chain.ts";
import { lengthRule } from "../policy.ts";
import { type Fields, leadingIn, listIn } from "../vendor.ts";
import { compactedResponse } from "./compact.ts";
import { compactedPlace, isOurs } from "./compaction-item.ts";
import { conversationPlace, isConversationId } from "./conversation-threads.ts";
import { withoutReferences } from "./items.ts";
import { namedResponse } from "./named-response.ts";
import { type HeldParams, readParams, WITHHELD } from "./params.ts";
import { conversationLocked, noConversation, noPrevious, notVerified, refusedParam } from "./refusals.ts";
import { compactedPlaceOf, findResponse, isOurId, placeAfter } from "./response-ids.ts";
import { responsesShape } from "./shape.ts";

type Responses = Exchange<ResponsesMessage>;

export async function holdResponses(exchange: Responses): Promise<Responses> {
  const { body, deps, request } = exchange;
  const read = readParams(body);
  if (read.kind === "problem") throw refusedParam(read);
  const { params } = read;
  if (isForeign(params)) return passed(exchange, params);
  const secret = Buffer.from(await deps.secret());
  const items = inputOf(body);
  const compacted = params.previous === null && params.conversation === null ? items.findLastIndex(isOurs) : -1;
  const place = await placeOf(exchange, { params, secret, compacted: items[compacted] ?? null, at: compacted });
  if (place === null && request.reference === "item" && params.trigger === "no") return exchange;
  const { store, background } = params;
  const threshold = lengthRule(exchange.policy).vendors === "serve" ? params.threshold : null;
  if (place === null && store === "no" && threshold === null && params.trigger === "no") return exchange;
  const rest = items.slice(compacted + 1).filter((item) => !isOurs(item) && item["type"] !== "compaction_trigger");
  const held: Held<ResponsesMessage> = {
    place,
    withheld: WITHHELD.filter((name) => body[name] != null),
    threshold,
    lasts: background === "yes" ? "forever" : "while-heard",
    instead:
      params.trigger === "yes" ? (begun, thread) => compactedResponse(exchange, { begun, thread, secret }) : null,
    begin: (begun) => namedResponse(exchange, { params, secret, begun }),
  };
  if (place === null && params.trigger === "no") return { ...exchange, held };
  const said = place === null ? rest : await withoutReferences(exchange.call.threads.store, place.threadId, rest);
  return {
    ...exchange,
    held,
    request: { ...request, ...readItems(said, compacted === -1 ? null : request.leading), reference: null },
  };
}

/** What is handed on as it came: only OpenAI knows what these ids stand for. */
function passed(exchange: Responses, { previous, conversation }: HeldParams): Responses {
  if (exchange.target.way === "raw") return exchange;
  throw previous !== null ? noPrevious(previous) : noConversation(conversation!);
}

function isForeign({ previous, conversation }: HeldParams): boolean {
  return (previous !== null && !isOurId(previous)) || (conversation !== null && !isConversationId(conversation));
}

function inputOf({ input }: Fields): readonly ResponsesItem[] {
  return (typeof input === "string" ? [{ role: "user", content: input }] : listIn(input)) as readonly ResponsesItem[];
}

/** System messages at the front are sent as they came; those that came before a compaction item still are. */
function readItems(items: readonly ResponsesItem[], before: readonly unknown[] | null) {
  const leading = leadingIn(items, responsesShape);
  return { leading: before ?? leading, messages: responsesTurns(items.slice(before === null ? leading.length : 0)) };
}

interface Asked {
  readonly params: HeldParams;
  readonly secret: Secret;
  readonly compacted: ResponsesItem | null;
  readonly at: number;
}

async function placeOf({ call }: Responses, { params, secret, compacted, at }: Asked): Promise<HeldPlace | null> {
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
