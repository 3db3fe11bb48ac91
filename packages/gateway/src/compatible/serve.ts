/** The compatible endpoints: which path is whose. What is none of the conversations passes straight through. */
import { ProblemError } from "../http/problem.ts";
import { anthropicMessages } from "./anthropic/vendor.ts";
import type { CompatibleCall, CompatibleDeps } from "./call.ts";
import { converse } from "./converse.ts";
import { answerWith, count } from "./counting.ts";
import { keyIn } from "./exchange.ts";
import { listedModel, modelList } from "./listing.ts";
import { targetOf } from "./models.ts";
import { openaiChat } from "./openai-chat/vendor.ts";
import { decoded, serveHeld } from "./openai-responses/resources.ts";
import { openaiResponses } from "./openai-responses/vendor.ts";
import { askTarget, relay, requestBytes } from "./relay.ts";
import type { Vendor, VendorFailure } from "./vendor.ts";

export async function serve(call: CompatibleCall, deps: CompatibleDeps): Promise<void> {
  const { method, path } = call;
  if (method === "POST") {
    const served =
      servedBy(openaiChat, call, deps) ??
      servedBy(anthropicMessages, call, deps) ??
      servedBy(openaiResponses, call, deps);
    if (served !== null) return served;
  }
  if (method === "GET" && path === "/models") return answerWith(call, modelList(deps.settings));
  const named = method === "GET" ? /^\/models\/(.+)$/.exec(path)?.[1] : undefined;
  const listed = named === undefined ? null : listedModel(deps.settings, decoded(named));
  if (listed !== null) return answerWith(call, listed);
  if (await serveHeld(call, deps)) return;
  return passThrough(call, deps);
}

/** Null: it is none of this vendor's. */
function servedBy<M extends object>(
  vendor: Vendor<M>,
  call: CompatibleCall,
  deps: CompatibleDeps,
): Promise<void> | null {
  if (call.path === vendor.path) return converse(call, deps, vendor);
  return call.path === vendor.countPath ? count(call, deps, vendor) : null;
}

/** To the provider of the model that it names, else of the first model of the vendor whose client asks. */
async function passThrough(call: CompatibleCall, { settings, env }: CompatibleDeps): Promise<void> {
  const { method, path, headers } = call;
  const body = method === "GET" || method === "HEAD" ? null : await call.body();
  const vendor = isAnthropic(path, headers) ? anthropicMessages : openaiChat;
  const { models, summarization } = settings;
  const first = models.find(({ provider }) => vendor.providers.includes(provider));
  const asked = modelIn(body, headers);
  const model = asked ?? first?.name ?? "";
  const table = { models, fallbackWindow: summarization.fallback_context_window, env };
  const target = targetOf(vendor, { model, providerKey: keyIn(call) }, table);
  if (target?.way !== "raw")
    throw new ProblemError(404, "no-route", `there is no ${method} /v1${path} here, and no provider to pass it on to`);
  const sent = asked === null ? body : requestBytes(body!, { model, target, field: vendor.field });
  const answer = await askTarget(call, { vendor, target, path }, { body: sent, signal: call.client.left });
  return relay(call, answer, { "x-palimpsest-match": "passed" });
}

function modelIn(body: Buffer | null, headers: Headers): string | null {
  if (body === null || !/json/i.test(headers.get("content-type") ?? "")) return null;
  try {
    const { model } = JSON.parse(body.toString()) as { readonly model?: unknown };
    return typeof model === "string" ? model : null;
  } catch {
    return null;
  }
}

function isAnthropic(path: string, headers: Headers): boolean {
  return path.startsWith(anthropicMessages.path) || headers.has("anthropic-version");
}

/** A refusal in the words of the vendor whose client asks. */
export function vendorFailure(path: string, headers: Headers, failure: VendorFailure): unknown {
  const vendor: Pick<Vendor<never>, "failure"> = isAnthropic(path, headers) ? anthropicMessages : openaiChat;
  return vendor.failure(failure);
}
