/** Responses by their id: as they stand in the log, or as they are being made. */
import { commit, withWriter } from "palimpsest/internal/threads";
import type { HeldCall } from "./held-call.ts";
import { itemPage } from "./items.ts";
import { pageIn, pageOf } from "./paging.ts";
import { noResponse, refusal } from "./refusals.ts";
import { followResponse } from "./replay.ts";
import { deletedPatch, type FoundResponse, findResponse } from "./response-ids.ts";
import { storedResponse } from "./stored-response.ts";

export async function retrieveResponse(held: HeldCall, id: string): Promise<unknown> {
  const { call, deps, query } = held;
  const found = await ownResponse(held, id);
  const live = deps.responses.get(call.caller.userId, id);
  const after = startingAfter(query);
  if (query.get("stream") === "true") return followResponse(held, { found, live, after });
  return live === undefined || live.state === "ended" ? storedResponse(held, found) : live.response;
}

function startingAfter(query: URLSearchParams): number {
  const given = query.get("starting_after");
  if (given === null) return -1;
  const after = Number(given);
  if (Number.isInteger(after) && after >= 0 && query.get("stream") === "true") return after;
  const message = "'starting_after' is the number of an event, and needs 'stream=true'.";
  throw refusal(400, { code: "invalid_value", message, param: "starting_after" });
}

async function ownResponse({ call, secret }: HeldCall, id: string): Promise<FoundResponse> {
  const found = await findResponse(call.threads.store, id, secret);
  if (found === null) throw noResponse(id);
  return found;
}

/** It can't be asked for any more, nor gone on from. Its words stay in the log. */
export async function deleteResponse(held: HeldCall, id: string): Promise<unknown> {
  const { call, deps } = held;
  const found = await ownResponse(held, id);
  const live = deps.responses.get(call.caller.userId, id);
  if (live?.state === "running") {
    live.state = "cancelled";
    live.flight.abandon();
    await live.ended;
  }
  const { threads } = call;
  const { threadId } = found.pointer;
  const written = await withWriter(threads, threadId, async (writer) => {
    const head = await threads.store.head(threadId);
    return commit(writer, [{ kind: "state", patch: deletedPatch(head?.state ?? {}, found) }]);
  });
  if (written.kind === "busy") throw busy();
  deps.responses.drop(call.caller.userId, id);
  return { id, object: "response", deleted: true };
}

/** Their clients try again by themselves. */
const busy = () =>
  refusal(
    409,
    { code: "conflict", message: "Its conversation is being written to. Please retry." },
    { "retry-after-ms": "250" },
  );

export async function cancelResponse(held: HeldCall, id: string): Promise<unknown> {
  const { call, deps } = held;
  const found = await ownResponse(held, id);
  const live = deps.responses.get(call.caller.userId, id);
  const stored = live === undefined ? await storedResponse(held, found) : live.response;
  if (stored["background"] !== true)
    throw refusal(400, {
      code: "invalid_value",
      message: "Cannot cancel a synchronous response.",
      param: "response_id",
    });
  if (live?.state !== "running") {
    if (stored["status"] !== "in_progress") return live?.state === "ended" ? storedResponse(held, found) : stored;
    const message = "It is being made by another instance of this gateway, which alone can cancel it.";
    throw refusal(409, { code: "conflict", message }, { "x-should-retry": "false" });
  }
  live.state = "cancelled";
  live.flight.abandon();
  await live.ended;
  return live.response;
}

/** All that its provider was to answer: the conversation up to there. */
export async function listInput(held: HeldCall, id: string): Promise<unknown> {
  const { call, secret, query } = held;
  const { pointer } = await ownResponse(held, id);
  const { threadId, seq: to } = pointer;
  return pageOf(await itemPage(call.threads.store, { threadId, to, ...pageIn(query) }, secret));
}
