/** What a loop sends beside the messages, as it states it: the texts themselves, or what they count. */
import { fixedSize } from "@palimpsest/core/internal/prompt";
import type { Hash, Head } from "@palimpsest/core/log";
import type { FixedSize } from "@palimpsest/core/prompt";
import type { Meter } from "@palimpsest/core/tokens";
import type { RecordInput } from "../threads/writer.ts";

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

/** Its sizes go into the thread's state when they differ from what stands there, so that a context can be broken down. */
export function fixedState({ hash, parts, tokens }: FixedSize, { state }: Head): readonly RecordInput[] {
  const before = state["request"] as { readonly hash?: string } | undefined;
  if (before?.hash === hash || (before === undefined && tokens === 0)) return [];
  return [{ kind: "state", patch: { request: { hash, parts } } }];
}
