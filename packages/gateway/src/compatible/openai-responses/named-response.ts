/** The answer to a request that is held: its id, what its client sees of it while it is made, and what is kept of it. */
import type { ResponsesMessage } from "@palimpsest/core/message";
import { answerWith } from "../counting.ts";
import type { Exchange } from "../exchange.ts";
import type { Begun, NamedAnswer } from "../held.ts";
import type { Secret } from "../matching/chain.ts";
import type { Fields } from "../vendor.ts";
import { compactionItem } from "./compaction-item.ts";
import type { LiveResponse } from "./live-responses.ts";
import type { HeldParams } from "./params.ts";
import { noPrevious } from "./refusals.ts";
import { type ResponseReceipt, responseId } from "./response-ids.ts";
import { rewritten } from "./rewrite.ts";

interface Naming {
  readonly params: HeldParams;
  readonly secret: Secret;
  readonly begun: Begun;
}

export async function namedResponse(
  exchange: Exchange<ResponsesMessage>,
  { params, secret, begun }: Naming,
): Promise<NamedAnswer<ResponsesMessage>> {
  const { call, deps, body, request } = exchange;
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
function ownFields(id: string, { previous, conversation, background }: HeldParams): Fields {
  return {
    id,
    previous_response_id: previous,
    conversation: conversation === null ? null : { id: conversation },
    background: background === "yes",
    store: true,
  };
}

function liveOf(
  { flight }: Begun,
  { params, stream, response }: { readonly params: HeldParams; readonly stream: boolean; readonly response: Fields },
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
function begunResponse(body: Fields, { created, ...own }: Fields): Fields {
  const given = [
    "temperature",
    "top_p",
    "max_output_tokens",
    "metadata",
    "text",
    "reasoning",
    "truncation",
    "tool_choice",
  ];
  const echoed = Object.fromEntries(given.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]])));
  return {
    object: "response",
    created_at: created,
    status: own["background"] === true ? "queued" : "in_progress",
    model: body["model"],
    output: [],
    error: null,
    incomplete_details: null,
    instructions: body["instructions"] ?? null,
    metadata: {},
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    temperature: null,
    tool_choice: "auto",
    tools: body["tools"] ?? [],
    top_p: null,
    usage: null,
    ...echoed,
    ...own,
  };
}

const DONE = ["completed", "incomplete", "failed", "cancelled"];

/** As it has ended, also where the provider had no word for it. */
function endedResponse(live: LiveResponse, state: string, failure: unknown): Fields {
  const { response } = live;
  if (live.state === "cancelled") return { ...response, status: "cancelled" };
  if (DONE.includes(String(response["status"])) && failure === null) return response;
  const isWhole = failure === null && (state === "ended" || state === "ending");
  if (isWhole) return { ...response, status: "completed" };
  const message = failure instanceof Error ? failure.message : messageIn(failure);
  return { ...response, status: "failed", error: { code: "server_error", message } };
}

function messageIn(failure: unknown): string {
  const { message } = (failure ?? {}) as { readonly message?: unknown };
  return typeof message === "string" && message !== "" ? message : "the answer was cut off";
}
