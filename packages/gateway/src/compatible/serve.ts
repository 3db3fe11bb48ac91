/** The compatible endpoints: which path is whose. What is none of the conversations may be passed on. */
import { anthropicMessages } from "./anthropic/vendor.ts";
import type { CompatibleCall, CompatibleDeps } from "./call.ts";
import { converse } from "./converse.ts";
import { answerWith, count } from "./counting.ts";
import { listedModel, modelList } from "./listing.ts";
import { openaiChat } from "./openai-chat/vendor.ts";
import { decoded, serveHeld } from "./openai-responses/resources.ts";
import { openaiResponses } from "./openai-responses/vendor.ts";
import { passThrough, vendorAt } from "./pass-through.ts";
import type { Vendor, VendorFailure } from "./vendor.ts";

export async function serve(given: CompatibleCall, deps: CompatibleDeps): Promise<void> {
  // With a slash at its end a path means the same.
  const call = { ...given, path: given.path.replace(/(?<=[^/])\/$/, "") };
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

/** A refusal in the words of the vendor whose client asks. */
export function vendorFailure(path: string, headers: Headers, failure: VendorFailure): unknown {
  return vendorAt(path, headers).failure(failure);
}
