/**
 * What a prompt would count: of what would really be sent, so that a client which compacts by itself sees no need to.
 * Nothing that the request says is kept.
 */
import { counterFor } from "palimpsest/models";
import { ProblemError } from "../http/problem.ts";
import type { CompatibleCall, CompatibleDeps } from "./call.ts";
import { askingOf, type Exchange, modeOf, objectIn, readCall } from "./exchange.ts";
import { askTarget, relay, requestBytes } from "./relay.ts";
import { sessionSettings } from "./session-settings.ts";
import { findMatch, type MatchingStore } from "./threads/find.ts";
import { watchedStore } from "./threads/watched-store.ts";
import type { Vendor } from "./vendor.ts";

export async function count<M extends object>(
  call: CompatibleCall,
  deps: CompatibleDeps,
  vendor: Vendor<M>,
): Promise<void> {
  const bytes = await call.body();
  const body = objectIn(bytes);
  const { target, read } = readCall(call, deps, { vendor, body });
  if (read.kind === "problem") throw new ProblemError(400, "invalid", read.message);
  const { request } = read;
  const exchange: Exchange<M> = { call, deps, vendor, bytes, body, request, target, mode: modeOf(call, deps) };
  const messages = exchange.mode === "on" ? await viewOf(exchange).catch(() => null) : null;
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
  const { call, deps, vendor, target, mode, request } = exchange;
  const store = watchedStore(call.threads.store, deps.silenceMs) as MatchingStore;
  if (store.matches === undefined || request.reference !== null) return null;
  const { asking } = await askingOf(exchange);
  const match = await findMatch(store, asking);
  if (match.kind !== "extended") return null;
  const held = await deps.open.claim(match.thread, {
    store,
    shape: vendor.shape,
    label: JSON.stringify([target.entry.name, target.model, mode, vendor.shape.dialect]),
    window: target.window,
    model: target.model,
    ...sessionSettings(deps.settings, { store, thread: match.thread, mode }),
  });
  if (typeof held === "string") return null;
  try {
    if ((await held.view()) === "verbatim") return null;
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
