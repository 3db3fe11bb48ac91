/** Conversations for tests of commands: long enough to be compacted, every message with a word of its own. */
import type { Desk } from "./binary.ts";

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export function exchanges(count: number): ChatMessage[] {
  return Array.from({ length: count }, (_, n): ChatMessage[] => [
    {
      role: "user",
      content: `Question ${n}: why does src/parse-${n}.ts fail? ${"It stops at nested groups. ".repeat(6)}`,
    },
    {
      role: "assistant",
      content: `Answer ${n}: we use a stack, since recursion overflows. ${"It reads one token. ".repeat(8)}`,
    },
  ]).flat();
}

export async function importMessages(at: Desk, threadId: string, messages: readonly object[]): Promise<void> {
  const path = at.file(`${threadId}.jsonl`, messages.map((message) => JSON.stringify(message)).join("\n"));
  const { code, stderr } = await at.run("import", path, "--thread", threadId);
  if (code !== 0) throw new Error(stderr);
}
