/** Passes a request on as it is and its answer back: nothing is kept, and only its tokens are read. */
import type { OutgoingHttpHeaders } from "node:http";
import { hideSecrets, secretsOf } from "palimpsest/internal/models";
import { ProblemError } from "../http/problem.ts";
import type { CompatibleCall } from "./call.ts";
import type { Target } from "./models.ts";
import { countSpent, type Estimate, tokensIn } from "./spending.ts";
import type { Vendor } from "./vendor.ts";
import { fieldSpans, spliced, withoutFields } from "./wire/raw-json.ts";
import { askUpstream, bytesOf, forwardedHeaders, type UpstreamAnswer } from "./wire/upstream.ts";
import { UpstreamError } from "./wire/upstream-error.ts";
import { type UsageReader, usageReader } from "./wire/usage-reader.ts";

export interface RelayOptions {
  /** Headers of ours that say what became of the request. */
  readonly ours: Readonly<Record<string, string>>;
  /** What counts where the provider reports no tokens: a text asked of this length and its answer's, or so many tokens. Null: nothing. */
  readonly unreported: { readonly textBytes: number } | { readonly tokens: number } | null;
}

export async function relay(call: CompatibleCall, answer: UpstreamAnswer, options: RelayOptions): Promise<void> {
  const { client } = call;
  const { ours, unreported } = options;
  client.head(answer.status, { ...answer.headers, ...call.own, ...ours });
  const reader = usageReader(answer);
  let how: "ended" | "broken" = "broken";
  try {
    for await (const bytes of answer.body) {
      if (client.left.aborted) return;
      reader.read(bytes);
      await client.write(bytes);
    }
    how = "ended";
    client.end();
  } catch (error) {
    if (error instanceof UpstreamError) call.failed(error);
    client.breakOff();
  } finally {
    if (answer.status < 400) countRelayed(call, reader, { how, unreported });
  }
}

function countRelayed(
  { meter }: CompatibleCall,
  reader: UsageReader,
  { how, unreported }: Pick<RelayOptions, "unreported"> & { readonly how: "ended" | "broken" },
): void {
  const usage = reader.usage();
  const isKnown = unreported === null || (usage !== null && how === "ended");
  countSpent(meter, usage, isKnown ? null : estimateOf(unreported, reader));
}

function estimateOf(unreported: NonNullable<RelayOptions["unreported"]>, reader: UsageReader): Estimate {
  if ("tokens" in unreported) return { input: unreported.tokens, output: 0 };
  const { events, bytes } = reader.said();
  return { input: tokensIn(unreported.textBytes), output: events + tokensIn(bytes) };
}

interface AskedBody {
  readonly body: Buffer | null;
  /** Another content type than the request's; null: that one. */
  readonly type?: string | null;
  readonly signal: AbortSignal;
}

/** Asks the provider of the target, with its key and without ours. */
export async function askTarget(
  call: CompatibleCall,
  {
    vendor,
    target,
    path,
  }: { readonly vendor: Pick<Vendor<never>, "key">; readonly target: Target; readonly path: string },
  { body, type = null, signal }: AskedBody,
): Promise<UpstreamAnswer> {
  const url = URL.parse(`${target.base}${path}${call.search}`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ProblemError(500, "bad-address", `the model ${target.entry.name} has a base_url that is no URL`);
  const whose = target.key !== null && target.key === call.providerKey ? "clients" : "operators";
  const headers: OutgoingHttpHeaders = { ...forwardedHeaders(call.headers, whose), "accept-encoding": "identity" };
  if (type !== null) headers["content-type"] = type;
  if (target.key !== null) Object.assign(headers, vendor.key(target.key));
  else if (target.entry.provider !== "openai-compatible") throw keyMissing(target);
  const asked = { method: call.method, url, headers, body, signal, bounds: call.bounds };
  const answer = await provenBy(call, askUpstream(asked));
  const secrets = secretsOf({ api_key: target.key ?? undefined, base_url: target.entry.base_url });
  return whose === "clients" || answer.status < 400 ? answer : hiding(answer, secrets);
}

/** Providers repeat keys in what they say of them. */
function hiding({ status, headers, body }: UpstreamAnswer, secrets: readonly string[]): UpstreamAnswer {
  const { "content-length": _, ...others } = headers;
  const hidden = async function* () {
    yield Buffer.from(String(hideSecrets((await bytesOf(body)).toString("latin1"), secrets)), "latin1");
  };
  return { status, headers: others, body: hidden() };
}

/** A provider that answers has accepted the key that it was asked with. What some give to anybody is read with GET. */
export async function provenBy(call: CompatibleCall, asked: Promise<UpstreamAnswer>): Promise<UpstreamAnswer> {
  const answer = await asked;
  if (call.method === "POST" && answer.status >= 200 && answer.status < 300) call.accepted();
  return answer;
}

export function keyMissing({ entry: { name } }: Pick<Target, "entry">): ProblemError {
  const remedy = "its operator can set one, or send one as X-Provider-Key";
  return new ProblemError(401, "no-key", `the model ${name} has no key here: ${remedy}`);
}

/** The body with the provider's name of the model, and with other messages where they are given. */
export function requestBytes(
  bytes: Buffer,
  changes: {
    readonly model: string;
    readonly target: Target;
    readonly field: string;
    readonly messages?: unknown;
    readonly without?: readonly string[];
  },
): Buffer {
  const { model, target, field, messages, without = [] } = changes;
  const kept = withoutFields(bytes, without);
  if (model === target.model && messages === undefined) return kept;
  const spans = fieldSpans(kept);
  const written = spans.get(field);
  const text = JSON.stringify(messages);
  // Whoever names a conversation may have nothing to add to it: then the field isn't there yet.
  const place = written ?? { start: spans.get("model")!.end, end: spans.get("model")!.end };
  return spliced(kept, [
    ...(model === target.model ? [] : [{ ...spans.get("model")!, text: JSON.stringify(target.model) }]),
    ...(messages === undefined
      ? []
      : [{ ...place, text: written === undefined ? `,${JSON.stringify(field)}:${text}` : text }]),
  ]);
}
