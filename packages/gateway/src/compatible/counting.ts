/**
 * What a prompt would count: of what would really be sent, so that a client which compacts by itself sees no need to.
 * Nothing that the request says is kept.
 */
import { counterFor } from "palimpsest/models";
import { ProblemError } from "../http/problem.ts";
import type { CompatibleCall, CompatibleDeps } from "./call.ts";
import { askingOf, type Exchange, readExchange, storeOf } from "./exchange.ts";
import { isViewSent } from "./policy.ts";
import { askTarget, relay, requestBytes } from "./relay.ts";
import { findMatch } from "./threads/find.ts";
import type { Claimed } from "./threads/open-threads.ts";
import type { Vendor } from "./vendor.ts";

export async function count<M extends object>(
  call: CompatibleCall,
  deps: CompatibleDeps,
  vendor: Vendor<M>,
): Promise<void> {
  const read = await readExchange(call, deps, vendor);
  if (read.kind === "problem") throw new ProblemError(400, "invalid", read.message);
  const { exchange } = read;
  const { bytes, request, target } = exchange;
  const messages = exchange.policy.mode === "on" ? await viewOf(exchange).catch(() => null) : null;
  if (target.way === "raw") {
    const written = messages === null ? undefined : vendor.write({ request, messages });
    const asked = requestBytes(bytes, { model: request.model, target, field: vendor.field, messages: written });
    const place = { vendor, target, path: vendor.countPath! };
    const answer = await askTarget(call, place, { body: asked, signal: call.client.left });
    if (answer.status !== 404 && answer.status !== 405) return relay(call, answer, {});
    for await (const _ of answer.body);
  }
  answerWith(call, vendor.counted(estimate(exchange, messages ?? request.messages)));
}

/** Null: it would be sent as it is. */
async function viewOf<M extends object>(exchange: Exchange<M>): Promise<readonly M[] | null> {
  const { request, policy } = exchange;
  const { store, claim } = storeOf(exchange);
  if (store.matches === undefined || request.reference !== null) return null;
  const { asking } = await askingOf(exchange);
  const match = await findMatch(store, asking);
  if (match.kind !== "extended") return null;
  const held = (await claim(match.thread)) as Claimed<M> | "busy" | "missing";
  if (typeof held === "string") return null;
  try {
    if (!isViewSent(policy, await held.view())) return null;
    const { messages, sources } = await held.thread.prompt();
    const shown = messages.filter((_, index) => index < messages.length - 1 || sources[index] !== "added");
    return [...shown, ...request.messages.slice(match.known)];
  } finally {
    await held.release();
  }
}

function estimate<M extends object>({ request, target }: Exchange<M>, messages: readonly M[]): number {
  const { count: tokens, prior } = counterFor({ model: target.model });
  const { system, tools } = request;
  const texts = [
    system,
    ...(tools.length === 0 ? [] : [JSON.stringify(tools)]),
    ...messages.map((one) => JSON.stringify(one)),
  ];
  return Math.ceil(texts.reduce((sum, text) => sum + tokens(text), 0) * prior);
}

export function answerWith({ client, own }: CompatibleCall, body: unknown): void {
  client.head(200, { "content-type": "application/json", ...own });
  void client.write(Buffer.from(JSON.stringify(body)));
  client.end();
}
