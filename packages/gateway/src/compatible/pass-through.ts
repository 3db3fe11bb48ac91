/**
 * Requests that are no conversation of ours, passed on to a provider. The operator's key is spent only on what
 * `gateway.pass_through` lists, with a model of the configuration: an account with a provider holds the files, batches and
 * answers of all users of this gateway. An admin and a caller with the provider's own key may use all of it.
 */
import { isUtf8 } from "node:buffer";
import { isRecord } from "@palimpsest/core/internal/text";
import type { ConfigFile } from "palimpsest/home";
import { pace } from "palimpsest/internal/threads";
import { readForm } from "../http/input.ts";
import { ProblemError } from "../http/problem.ts";
import { fieldSpans, parseJson, spliced } from "../http/read-json.ts";
import { anthropicMessages } from "./anthropic/vendor.ts";
import { openaiChat } from "./openai-chat.ts";
import { tokensIn } from "./outcome.ts";
import type { ProviderTarget } from "./policy.ts";
import { isAdmin, keyIn, ownsAccount, targetFor, unclearIn } from "./request.ts";
import type { CompatibleCall, CompatibleDeps } from "./serve.ts";
import { askTarget, type RelayOptions, relay } from "./upstream.ts";
import type { Vendor } from "./vendor.ts";

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
function targetOfBody(call: CompatibleCall, deps: CompatibleDeps, read: PassedBody): ProviderTarget {
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

/*
 * The model in a body that is passed through. An ambiguous body is refused: the provider could read another model than the
 * one that was checked.
 */

type PassedBody =
  | {
      readonly kind: "read";
      /** Null: it names none. */
      readonly model: string | null;
      /** The same body with this model, if it names one. */
      sent(model: string): Promise<SentBody>;
    }
  | { readonly kind: "unreadable"; readonly why: string };

interface SentBody {
  readonly body: Buffer | null;
  /** Another content type than the request's; null: that one. */
  readonly type: string | null;
}

/** `bytes` null: a request without a body. */
async function readPassed(bytes: Buffer | null, headers: Headers): Promise<PassedBody> {
  if (bytes === null || bytes.length === 0) return unnamed(bytes);
  const type = headers.get("content-type") ?? "";
  if (/^multipart\/form-data\b/i.test(type)) return readPassedForm(bytes, type);
  const encoding = headers.get("content-encoding") ?? "identity";
  if (!isJson(type) || encoding !== "identity")
    return unreadable("a body is passed on as JSON in UTF-8, or as a form, with its content-type");
  return readJson(bytes);
}

function isJson(type: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1] ?? "utf-8";
  return /^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i.test(type) && /^utf-?8$/i.test(charset);
}

async function readJson(bytes: Buffer): Promise<PassedBody> {
  const body = isUtf8(bytes) ? await parseJson(bytes).catch(() => undefined) : undefined;
  if (body === undefined) return unreadable("the body is no JSON in UTF-8");
  if (!isRecord(body)) return unreadable("the body is no JSON object");
  const unclear = await unclearIn(bytes, Object.keys(body));
  if (unclear !== null) return unreadable(unclear);
  const { model } = body;
  if (model === undefined) return unnamed(bytes);
  if (typeof model !== "string") return unreadable(NO_TEXT);
  const sent = async (name: string) => {
    const place = fieldSpans(bytes).get("model")!;
    return {
      body: name === model ? bytes : spliced(bytes, [{ ...place, text: JSON.stringify(name) }]),
      type: null,
    };
  };
  return { kind: "read", model, sent };
}

/** Written anew when it names a model, so that the provider reads what was read here. */
async function readPassedForm(bytes: Buffer, type: string): Promise<PassedBody> {
  const form = await readForm(bytes, type);
  if (form === null) return unreadable("the form can't be read");
  const names = [...form.keys()].filter((name) => name.toLowerCase() === "model");
  if (names.length === 0) return unnamed(bytes);
  if (names.length > 1 || names[0] !== "model") return unreadable(TWICE);
  const model = form.get("model");
  if (typeof model !== "string") return unreadable(NO_TEXT);
  const sent = async (name: string) => {
    // Reading a form of many megabytes takes as long as writing it, and neither can be cut.
    await pace().turn();
    form.set("model", name);
    const written = new Response(form);
    return { body: Buffer.from(await written.arrayBuffer()), type: written.headers.get("content-type") };
  };
  return { kind: "read", model, sent };
}

const TWICE = "the form names its model more than once, or in another spelling";
const NO_TEXT = "the body's model is no text";

function unnamed(body: Buffer | null): PassedBody {
  return { kind: "read", model: null, sent: async () => ({ body, type: null }) };
}

function unreadable(why: string): PassedBody {
  return { kind: "unreadable", why };
}
