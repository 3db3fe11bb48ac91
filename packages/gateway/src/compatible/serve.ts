/** The compatible endpoints: which path is whose. What is none of the conversations passes straight through. */
import { ProblemError } from "../http/problem.ts";
import { anthropicMessages } from "./anthropic/vendor.ts";
import type { CompatibleCall, CompatibleDeps } from "./call.ts";
import { converse } from "./converse.ts";
import { openaiChat } from "./openai-chat/vendor.ts";
import { openaiResponses } from "./openai-responses/vendor.ts";
import type { Vendor, VendorFailure } from "./vendor.ts";

export async function serve(call: CompatibleCall, deps: CompatibleDeps): Promise<void> {
  const { method, path } = call;
  if (method === "POST" && path === openaiChat.path) return converse(call, deps, openaiChat);
  if (method === "POST" && path === anthropicMessages.path) return converse(call, deps, anthropicMessages);
  if (method === "POST" && path === openaiResponses.path) return converse(call, deps, openaiResponses);
  throw new ProblemError(404, "no-route", `there is no ${method} /v1${path} here`);
}

/** A refusal in the words of the vendor whose client asks. */
export function vendorFailure(path: string, headers: Headers, failure: VendorFailure): unknown {
  const isAnthropic = path.startsWith(anthropicMessages.path) || headers.has("anthropic-version");
  const vendor: Pick<Vendor<never>, "failure"> = isAnthropic ? anthropicMessages : openaiChat;
  return vendor.failure(failure);
}
