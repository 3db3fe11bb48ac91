/** Turns a conversation into the records of a new thread, in the order a live one would have written them. */
import type { UsageRecord } from "@palimpsest/core/log";
import { type Dialect, type Shape, shapeOf } from "@palimpsest/core/message";
import { type TitleLimits, titleOf } from "../threads/title.ts";
import type { RecordInput } from "../threads/writer.ts";
import type { ImportedConversation, ImportedUsage } from "./conversation.ts";

export interface RecordsOptions {
  readonly dialect: Dialect;
  readonly ids: () => string;
  /** Null: no title. */
  readonly title: TitleLimits | null;
  /** The receipt that ends the thread's import. */
  readonly receipt: { readonly type: "imported"; readonly [detail: string]: unknown };
}

export function recordsOf(
  conversation: ImportedConversation,
  { dialect, ids, title: naming, receipt }: RecordsOptions,
): RecordInput[] {
  const inputs: RecordInput[] = [];
  if (conversation.request !== null) inputs.push({ kind: "state", patch: { request: conversation.request } });
  const flawOf = reportJudge();
  for (const { body, at, usage, model } of conversation.messages) {
    const time = at === null ? {} : { at };
    inputs.push({ kind: "message", id: ids(), dialect, origin: "import", body, ...time });
    if (usage !== null)
      inputs.push({
        kind: "usage",
        ...time,
        of: inputs.length,
        model: model ?? "unknown",
        measured: { compaction: null, prune: null, promptHash: null },
        ...usage,
        factor: null,
        flaw: flawOf(usage),
      });
  }
  const title = naming === null ? "" : titleOf(conversation.title ?? firstWords(conversation, dialect), naming);
  if (title !== "") inputs.push({ kind: "state", patch: { title } });
  inputs.push({ kind: "event", event: receipt });
  return inputs;
}

/** What the user said first, in words. */
function firstWords({ messages }: ImportedConversation, dialect: Dialect): string {
  // One table of functions per dialect; the file was checked to be in this one.
  const shape = shapeOf(dialect) as Shape<unknown>;
  for (const { value } of messages) {
    if (shape.role(value) !== "user") continue;
    const words = shape.parts(value).map((part) => (part.kind === "text" ? part.text : ""));
    if (words.join("").trim() !== "") return words.join(" ");
  }
  return "";
}

/**
 * Reports are kept, but two kinds must not anchor a count: zeros, and everything after the source shortened its prompt
 * (a compaction of its own): those measured a prompt that this log doesn't hold.
 */
function reportJudge(): (usage: ImportedUsage) => NonNullable<UsageRecord["flaw"]> | null {
  let largest = 0;
  let shortened = false;
  return ({ input }) => {
    if (input === 0) return "zero";
    shortened ||= input < largest * SHORTENED;
    largest = Math.max(largest, input);
    return shortened ? "implausible" : null;
  };
}

/** A prompt that only grows never reports this little of what it once did. */
const SHORTENED = 0.7;
