/**
 * Requests that are no conversation of ours, passed on to a provider. The operator's key is spent only on what
 * `gateway.pass_through` lists, with a model of the configuration: an account with a provider holds the files, batches and
 * answers of everybody behind this gateway. An admin, and whoever brings the provider's own key, may use all of it.
 */
import type { ConfigFile } from "palimpsest/home";
import { ProblemError } from "../http/problem.ts";
import { anthropicMessages } from "./anthropic/vendor.ts";
import type { CompatibleCall, CompatibleDeps } from "./call.ts";
import { targetFor } from "./exchange.ts";
import type { Target } from "./models.ts";
import { openaiChat } from "./openai-chat/vendor.ts";
import { type PassedBody, readPassed } from "./passed-body.ts";
import { askTarget, type RelayOptions, relay } from "./relay.ts";
import { tokensIn } from "./spending.ts";
import type { Vendor } from "./vendor.ts";
import { isAdmin, keyIn, ownsAccount } from "./whose-key.ts";

type PassThrough = ConfigFile["gateway"]["pass_through"];

export async function passThrough(call: CompatibleCall, deps: CompatibleDeps): Promise<void> {
  const { method, path, headers } = call;
  if (HIDDEN_SLASH.test(path)) throw new ProblemError(400, "invalid", "this path has an encoded or an empty part");
  const isListed = lists(deps.settings.gateway.pass_through, method, path);
  if (!isListed && !isAdmin(call) && keyIn(call) === null) throw notHere(call);
  const vendor = vendorAt(path, headers);
  const bytes = method === "GET" || method === "HEAD" ? null : await call.body();
  const read = await readPassed(bytes, headers);
  const target = targetOfBody(call, deps, read);
  if (!ownsAccount(call, target)) {
    if (!isListed) throw notHere(call);
    checkNamed(read, path);
  }
  const { body, type } = read.kind === "unreadable" ? { body: bytes, type: null } : await read.sent(target.model);
  const asking = { body, type, signal: call.client.left };
  const answer = await askTarget(call, { vendor, target, path }, asking);
  return relay(call, answer, {
    ours: { "x-palimpsest-match": "passed" },
    unreported: unreportedAt(path, body, type ?? headers.get("content-type")),
  });
}

/** By whose client it is asked for. */
export function vendorAt(
  path: string,
  headers: Headers,
): Pick<Vendor<never>, "providers" | "address" | "key" | "failure"> {
  return path.startsWith(anthropicMessages.path) || headers.has("anthropic-version") ? anthropicMessages : openaiChat;
}

/** A server that decodes these reads another path than the one that was checked. */
const HIDDEN_SLASH = /%(?:25)*(?:2f|5c)|\/\//i;

/** `{id}` stands for one part of a path. */
function lists(list: PassThrough, method: string, path: string): boolean {
  if (list === "all") return true;
  const parts = `${method} /v1${path}`.split("/");
  return list.some((entry) => {
    const pattern = entry.split("/");
    return (
      pattern.length === parts.length &&
      pattern.every((name, index) => name === parts[index] || (name.startsWith("{") && parts[index] !== ""))
    );
  });
}

/** The provider of the model that it names, else of the first model of the vendor whose client asks. */
function targetOfBody(call: CompatibleCall, deps: CompatibleDeps, read: PassedBody): Target {
  const vendor = vendorAt(call.path, call.headers);
  const named = read.kind === "unreadable" ? null : read.model;
  const first = deps.settings.models.find(({ provider }) => vendor.providers.includes(provider));
  if (named === null && first === undefined) throw notHere(call);
  const target = targetFor(call, deps, { vendor, model: named ?? first!.name });
  if (target.way !== "raw") throw notHere(call);
  return target;
}

function checkNamed(read: PassedBody, path: string): void {
  if (read.kind === "unreadable") throw new ProblemError(400, "invalid", read.why);
  if (read.model === null && NAMES_MODEL.test(path))
    throw new ProblemError(400, "invalid", "the request names no model");
}

/** A text counts by its length. A picture or a recording says little by its own: it counts as about what a picture takes. */
function unreportedAt(path: string, body: Buffer | null, type: string | null): RelayOptions["unreported"] {
  if (body === null || !NAMES_MODEL.test(path)) return null;
  if (path === "/completions") return { textBytes: body.length };
  const isText = !path.startsWith("/images/") && type !== null && !/^multipart\//i.test(type);
  return { tokens: isText ? tokensIn(body.length) : MEDIA_TOKENS };
}

const MEDIA_TOKENS = 1000;

/** Without a model the provider would choose one. */
const NAMES_MODEL = /^\/(?:completions|embeddings|moderations|audio\/\w+|images\/\w+)$/;

function notHere({ method, path }: CompatibleCall): ProblemError {
  const why = "nothing here serves it, and gateway.pass_through doesn't pass it on";
  return new ProblemError(404, "no-route", `there is no ${method} /v1${path} here: ${why}`);
}
