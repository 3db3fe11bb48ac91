/** What a loop sends beside the messages, as it states it: the texts themselves, or what they count. */
import { fixedSize } from "@palimpsest/core/internal/prompt";
import type { Hash, Head } from "@palimpsest/core/log";
import type { FixedSize } from "@palimpsest/core/prompt";
import type { Meter } from "@palimpsest/core/tokens";
import type { ThreadDeps } from "../threads/writer.ts";
import { keepFixed, type RequestParameters } from "./kept-request.ts";
import type { Batch } from "./open-log.ts";

/** `tools` are the schemas as they are sent. In tokens: by the counter of the model that is asked. */
export type FixedRequest =
  | { readonly system?: string | undefined; readonly tools?: readonly unknown[] | undefined }
  | { readonly tokens: number };

export function sizeFixed<M>(given: FixedRequest, meter: Meter<M>, hash: Hash): FixedSize & { readonly hash: string } {
  const named = (parts: FixedSize["parts"], value: unknown) => {
    const name = hash(JSON.stringify(value));
    return { ...fixedSize(parts, name), hash: name };
  };
  if ("tokens" in given) return named({ base: given.tokens }, given.tokens);
  const { system = "", tools = [] } = given;
  const parts = { base: system === "" ? 0 : meter.system(system), definitions: meter.tools(tools) };
  return named(parts, [system, tools]);
}

/** As it was stated, and its size. */
export interface StatedRequest {
  readonly given: FixedRequest;
  readonly size: FixedSize;
  readonly parameters: RequestParameters;
}

/** What the thread last sent beside its messages; null: nothing that it knows of. */
export function sentBefore({ state }: Head): FixedSize | null {
  const before = state["request"] as Pick<FixedSize, "hash" | "parts"> | undefined;
  return before?.parts === undefined ? null : fixedSize(before.parts, before.hash);
}

/**
 * What to append when the thread last sent something else: an event that names its texts, for whoever asks later what an
 * answer was given to, and its sizes in the state, so that a context can be broken down.
 */
export function fixedChange(
  { given, size: { hash, parts, tokens }, parameters }: StatedRequest,
  { state }: Head,
  deps: Pick<ThreadDeps, "hash" | "store">,
): Batch {
  const before = state["request"] as { readonly hash?: string; readonly parameters?: string } | undefined;
  const parametersHash = deps.hash(JSON.stringify(parameters));
  const same = before?.hash === hash && before?.parameters === parametersHash;
  if (same || (before === undefined && tokens === 0)) return { inputs: [] };
  const { kept, prompts } = "tokens" in given ? { kept: {}, prompts: [] } : keepFixed(textsOf(given, parameters), deps);
  const request = { hash, parts, parameters: parametersHash };
  return {
    inputs: [
      { kind: "event", event: { type: "request", hash, ...kept } },
      { kind: "state", patch: { request } },
    ],
    prompts,
  };
}

function textsOf(
  { system = "", tools = [] }: Exclude<FixedRequest, { tokens: number }>,
  parameters: RequestParameters,
) {
  return { system, memory: "", tools, parameters };
}
