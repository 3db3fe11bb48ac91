/** What OpenAI's API has beside asking: responses by their id, conversations and their items. All of it from the log. */

import { setTimeout as pause } from "node:timers/promises";
import type { UsageRecord } from "@palimpsest/core/internal/log";
import { parseMessage, responsesItems } from "@palimpsest/core/internal/message";
import { commit, withWriter } from "palimpsest/internal/threads";
import type { Store } from "palimpsest/stores";
import { typedEvent } from "../../http/event-stream.ts";
import { ProblemError } from "../../http/problem.ts";
import { type JsonFields, parseFields } from "../../http/read-json.ts";
import { converseWith } from "../converse.ts";
import { answerWith } from "../counting.ts";
import { keptRequest, type StoredRequest } from "../find.ts";
import type { ClientConnection } from "../flight.ts";
import type { Secret } from "../match.ts";
import { policyOf } from "../policy.ts";
import { summaryIn } from "../prompt.ts";
import { parseRequest } from "../request.ts";
import type { CompatibleCall, CompatibleDeps } from "../serve.ts";
import { compactionItem, eventsOf } from "./compaction-item.ts";
import {
  conversationOf,
  createConversation,
  createItems,
  deleteConversation,
  deleteItem,
  isConversationId,
  itemPage,
  listItems,
  pageIn,
  pageOf,
  retrieveItem,
  updateConversation,
} from "./conversations.ts";
import { compactionOf, holdResponses } from "./hold.ts";
import { noResponse, type ResourceCall, refusal, responsesUsage } from "./params.ts";
import {
  deletedPatch,
  type FoundResponse,
  findResponse,
  isOurId,
  type LiveResponse,
  type ResponseReceipt,
} from "./response-ids.ts";
import { openaiResponses } from "./vendor.ts";

type RouteWork = (held: ResourceCall, ...ids: string[]) => Promise<unknown>;

/** Method and path; ids are what stands for `*`. The answer is written unless the work has done so. */
const ROUTES: readonly (readonly [string, string, RouteWork])[] = [
  ["POST", "/responses/compact", compactNow],
  ["GET", "/responses/*", retrieveResponse],
  ["DELETE", "/responses/*", deleteResponse],
  ["POST", "/responses/*/cancel", cancelResponse],
  ["GET", "/responses/*/input_items", listInput],
  ["POST", "/conversations", createConversation],
  ["GET", "/conversations/*", conversationOf],
  ["POST", "/conversations/*", updateConversation],
  ["DELETE", "/conversations/*", deleteConversation],
  ["POST", "/conversations/*/items", createItems],
  ["GET", "/conversations/*/items", listItems],
  ["GET", "/conversations/*/items/*", retrieveItem],
  ["DELETE", "/conversations/*/items/*", deleteItem],
];

/** False: it is none of these, or names what only OpenAI knows. */
export async function serveHeld(call: CompatibleCall, deps: CompatibleDeps): Promise<boolean> {
  const parts = call.path.split("/").map(decoded);
  const route = ROUTES.find(([method, path]) => method === call.method && idsIn(path, parts) !== null);
  if (route === undefined || call.threads.store.matches === undefined || !isServed(call, deps)) return false;
  const ids = idsIn(route[1], parts)!;
  const isForeign = ids[0] !== undefined && !isOurId(ids[0]) && !isConversationId(ids[0]);
  if (isForeign && hasVendor(deps)) return false;
  const secret = Buffer.from(await deps.secret());
  const answer = await route[2]({ call, deps, secret, query: new URLSearchParams(call.search) }, ...ids);
  if (answer !== undefined) answerWith(call, answer);
  return true;
}

function isServed({ headers, caller }: CompatibleCall, { settings }: CompatibleDeps): boolean {
  const { mode, compaction } = policyOf(headers, settings, caller.userId);
  return mode === "on" && compaction !== "native";
}

const hasVendor = ({ settings }: CompatibleDeps): boolean =>
  settings.models.some(({ provider, base_url }) => provider === "openai" && base_url == null);

function idsIn(path: string, parts: readonly string[]): string[] | null {
  const pattern = path.split("/");
  if (pattern.length !== parts.length) return null;
  const ids: string[] = [];
  for (const [index, name] of pattern.entries()) {
    const part = parts[index]!;
    if (name === "*" && part !== "") ids.push(part);
    else if (name !== part) return null;
  }
  return ids;
}

/** A part of a path as it was before it was encoded. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ProblemError(400, "invalid", "the path is not well formed");
  }
}

/* Responses by their id: as they stand in the log, or as they are being made. */

async function retrieveResponse(held: ResourceCall, id: string): Promise<unknown> {
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

async function ownResponse({ call, secret }: ResourceCall, id: string): Promise<FoundResponse> {
  const found = await findResponse(call.threads.store, id, secret);
  if (found === null) throw noResponse(id);
  return found;
}

/** It can't be asked for any more, nor gone on from. Its words stay in the log. */
async function deleteResponse(held: ResourceCall, id: string): Promise<unknown> {
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

async function cancelResponse(held: ResourceCall, id: string): Promise<unknown> {
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
async function listInput(held: ResourceCall, id: string): Promise<unknown> {
  const { call, secret, query } = held;
  const { pointer } = await ownResponse(held, id);
  const { threadId, seq: to } = pointer;
  return pageOf(await itemPage(call.threads.store, { threadId, to, ...pageIn(query) }, secret));
}

/* A response as the log has it. */

async function storedResponse({ call, secret }: ResourceCall, found: FoundResponse): Promise<JsonFields> {
  const { id, pointer, header, answer, receipt } = found;
  const { store, ids } = call.threads;
  const request = await keptRequest(store, pointer.threadId, answer?.seq ?? pointer.seq);
  const status = receipt?.status ?? (await statusOf(found, { store, owner: ids() }));
  const said = answer === null ? [] : [parseMessage("openai-responses", answer.body)];
  return {
    object: "response",
    created_at: Math.floor(Date.parse(answer?.at ?? header.createdAt) / 1000),
    status,
    model: "unknown",
    error: status === "failed" ? { code: "server_error", message: "it was cut off before it was answered" } : null,
    incomplete_details: null,
    instructions: instructionsIn(request, receipt),
    metadata: {},
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: "auto",
    tools: request?.tools ?? [],
    top_p: null,
    usage: answer === null ? null : await usageOf(store, pointer.threadId, answer.seq),
    ...receipt?.fields,
    id,
    output: [...(await compactionIn(store, found, secret)), ...responsesItems(said)],
  };
}

/** They are the beginning of all that a system prompt said. */
function instructionsIn(request: StoredRequest | null, receipt: ResponseReceipt | null): string | null {
  const characters = receipt?.instructions ?? null;
  return request === null || characters === null ? null : request.system.slice(0, characters);
}

/** The item of the compaction that was made for it, made again. */
async function compactionIn(
  store: Store,
  { header, receipt }: FoundResponse,
  secret: Secret,
): Promise<readonly JsonFields[]> {
  const told = receipt?.compaction ?? null;
  const summary = told && (await summaryIn(store, header.id, told.record));
  return summary === null ? [] : [compactionItem(header, { ...told!, text: summary.text }, { secret, id: told!.id })];
}

/** A response without an answer is in progress in another process, or that process stopped before its end. */
async function statusOf(
  { answer, pointer }: FoundResponse,
  { store, owner }: { readonly store: Store; readonly owner: string },
): Promise<string> {
  if (answer !== null) return answer.origin === "aborted" ? "incomplete" : "completed";
  const taken = await store.acquireLease(pointer.threadId, owner, 1000);
  if (taken.kind === "acquired") await store.releaseLease(taken.lease);
  return taken.kind === "busy" ? "in_progress" : "failed";
}

async function usageOf(store: Store, threadId: string, of: number): Promise<JsonFields | null> {
  const range = [of + 1, of + 2] as const;
  let usage: UsageRecord | null = null;
  for await (const { record } of store.records(threadId, { range, kinds: ["usage"] }))
    if (record.kind === "usage" && record.of === of) usage = record;
  if (usage === null) return null;
  const { input, output, cacheRead: cached } = usage;
  return responsesUsage({ input, output, cached });
}

/*
 * A response as a stream, for clients that lost it or come later: the very events while they are in memory, with their numbers;
 * else events made from what the log has, numbered so that a client that asks for what follows a number misses nothing.
 */

const STREAM = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

interface Followed {
  readonly found: FoundResponse;
  readonly live: LiveResponse | undefined;
  /** The number of the last event that the client has; -1: none. */
  readonly after: number;
}

async function followResponse(held: ResourceCall, { found, live, after }: Followed): Promise<undefined> {
  const { client, own } = held.call;
  if (live?.stream && !found.redacted) {
    live.flight.attach(behind(client, after));
    return live.ended as Promise<undefined>;
  }
  client.head(200, { ...STREAM, ...own });
  const ended = live === undefined ? await untilAnswered(held, found) : await afterEnd(held, live, found);
  const response = await storedResponse(held, ended);
  for (const event of eventsOf(response, ended.receipt?.sequence ?? 0))
    if (event.sequence_number > after) await client.write(Buffer.from(typedEvent(event)));
  client.end();
  return undefined;
}

async function afterEnd(held: ResourceCall, live: LiveResponse, found: FoundResponse): Promise<FoundResponse> {
  await live.ended;
  return again(held, found);
}

const again = async ({ call, secret }: ResourceCall, { id }: FoundResponse): Promise<FoundResponse> => {
  const found = await findResponse(call.threads.store, id, secret);
  if (found === null) throw noResponse(id);
  return found;
};

const PAUSE_MS = 250;

/** Another instance makes it: the log says when it is done. */
async function untilAnswered(held: ResourceCall, found: FoundResponse): Promise<FoundResponse> {
  let now = found;
  while (!held.call.client.left.aborted && (await storedResponse(held, now))["status"] === "in_progress") {
    await pause(PAUSE_MS);
    now = await again(held, found);
  }
  return now;
}

/** Only events behind this number. Bytes come as whole events. */
function behind(client: ClientConnection, after: number): ClientConnection {
  if (after < 0) return client;
  return {
    ...client,
    async write(bytes) {
      const blocks = Buffer.from(bytes).toString().split("\n\n");
      const kept = blocks.filter((block) => block !== "" && numberOf(block) > after);
      if (kept.length > 0) await client.write(Buffer.from(kept.map((block) => `${block}\n\n`).join("")));
    },
  };
}

function numberOf(block: string): number {
  const number = parseFields(/^data: ?(.*)$/m.exec(block)?.[1] ?? "")?.["sequence_number"];
  return typeof number === "number" ? number : Number.MAX_SAFE_INTEGER;
}

/* `POST /responses/compact`: the conversation that the request names or brings, compacted in the log. */

async function compactNow({ call, deps, secret }: ResourceCall): Promise<undefined> {
  const read = await parseRequest(call, deps, openaiResponses);
  if (read.kind === "problem") throw new ProblemError(400, "invalid", read.message);
  const parsed = await holdResponses(read.parsed);
  const { held } = parsed;
  if (held === null) throw new ProblemError(400, "invalid", "what it names is not held here");
  await converseWith({
    ...parsed,
    held: { ...held, instead: (begun, thread) => compactionOf(parsed, { begun, thread, secret }) },
  });
  return undefined;
}
