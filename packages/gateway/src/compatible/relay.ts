/** Passes a request on as it is and its answer back: nothing is read, nothing is kept. */
import type { OutgoingHttpHeaders } from "node:http";
import { ProblemError } from "../http/problem.ts";
import type { CompatibleCall } from "./call.ts";
import type { Target } from "./models.ts";
import type { Vendor } from "./vendor.ts";
import { fieldSpans, spliced, withoutFields } from "./wire/raw-json.ts";
import { askUpstream, forwardedHeaders, type UpstreamAnswer } from "./wire/upstream.ts";

export async function relay(
  call: CompatibleCall,
  answer: UpstreamAnswer,
  ours: Readonly<Record<string, string>>,
): Promise<void> {
  const { client } = call;
  client.head(answer.status, { ...answer.headers, ...call.own, ...ours });
  try {
    for await (const bytes of answer.body) {
      if (client.left.aborted) return;
      await client.write(bytes);
    }
    client.end();
  } catch {
    client.breakOff();
  }
}

/** Asks the provider of the target, with its key and without ours. */
export function askTarget(
  call: CompatibleCall,
  {
    vendor,
    target,
    path,
  }: { readonly vendor: Pick<Vendor<never>, "key">; readonly target: Target; readonly path: string },
  { body, signal }: { readonly body: Buffer | null; readonly signal: AbortSignal },
): Promise<UpstreamAnswer> {
  const url = URL.parse(`${target.base}${path}${call.search}`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ProblemError(500, "bad-address", `the model ${target.entry.name} has a base_url that is no URL`);
  const headers: OutgoingHttpHeaders = { ...forwardedHeaders(call.headers), "accept-encoding": "identity" };
  if (target.key !== null) Object.assign(headers, vendor.key(target.key));
  else if (target.entry.provider !== "openai-compatible") throw keyMissing(target);
  return askUpstream({ method: call.method, url, headers, body, signal });
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
