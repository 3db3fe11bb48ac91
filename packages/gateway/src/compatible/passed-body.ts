/**
 * The body of a request that is passed on, as far as its model goes. What can't be read in exactly one way is unreadable:
 * the provider could read another model in it than the one that was checked.
 */
import { unclearIn } from "./named-model.ts";
import { fieldSpans, spliced } from "./wire/raw-json.ts";

export type PassedBody =
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
export async function readPassed(bytes: Buffer | null, headers: Headers): Promise<PassedBody> {
  if (bytes === null || bytes.length === 0) return unnamed(bytes);
  const type = headers.get("content-type") ?? "";
  if (/^multipart\/form-data\b/i.test(type)) return readForm(bytes, type);
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
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return unreadable("the body is no JSON in UTF-8");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return unreadable("the body is no JSON object");
  const unclear = await unclearIn(bytes, Object.keys(body));
  if (unclear !== null) return unreadable(unclear);
  const { model } = body as { readonly model?: unknown };
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
async function readForm(bytes: Buffer, type: string): Promise<PassedBody> {
  const given = new Response(new Uint8Array(bytes), { headers: { "content-type": type } });
  const form = await given.formData().catch(() => null);
  if (form === null) return unreadable("the form can't be read");
  const names = [...form.keys()].filter((name) => name.toLowerCase() === "model");
  if (names.length === 0) return unnamed(bytes);
  if (names.length > 1 || names[0] !== "model") return unreadable(TWICE);
  const model = form.get("model");
  if (typeof model !== "string") return unreadable(NO_TEXT);
  const sent = async (name: string) => {
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
