/**
 * Where a thread repeats one of its messages because the agent looked it up: results of recall, and of tools that read the
 * part files. A search names what it found by its number, so that an echo is known when the words are gone already.
 */
import { isEcho } from "@palimpsest/core/internal/recall";
import type { CallPart } from "@palimpsest/core/message";
import { recallShape } from "../recall/catch-up.ts";
import { messageTexts } from "../thread/redact.ts";
import type { ThreadDeps } from "../thread/writer.ts";
import type { ChildCopy } from "./child-copies.ts";

export async function echoesOf({ store, tools }: ThreadDeps, threadId: string, seq: number): Promise<ChildCopy[]> {
  const echoes: ChildCopy[] = [];
  for (const sharer of await store.sharers(threadId, seq)) {
    const calls = new Map<string, Pick<CallPart, "input" | "facts">>();
    let shows = (_text: string): boolean => false;
    for await (const { record, redacted } of store.records(sharer, { kinds: ["message"] })) {
      if (record.kind !== "message" || record.seq < seq) continue;
      if (record.seq === seq) shows = showing(seq, redacted ? [] : messageTexts(record));
      if (redacted) continue;
      for (const part of recallShape(record.dialect, tools).parts(JSON.parse(record.body))) {
        if (part.kind === "call") calls.set(part.id, part);
        if (part.kind !== "result" || !shows(part.text)) continue;
        if (isEcho(calls.get(part.id) ?? { facts: part.facts, input: "" }))
          echoes.push({ threadId: sharer, seq: record.seq });
      }
    }
  }
  return echoes;
}

function showing(seq: number, texts: readonly string[]): (text: string) => boolean {
  const named = new RegExp(`^${seq} [^\\n:]{1,200}: `, "m");
  // A part file holds it as JSON.
  const spellings = texts.flatMap((text) => [text.trim(), JSON.stringify(text.trim()).slice(1, -1)]).filter(Boolean);
  return (text) => named.test(text) || spellings.some((one) => text.includes(one));
}
