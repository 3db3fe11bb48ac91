/**
 * One of our test summarizers as the chat model a peer's middleware expects: the few members it uses. It reads the peer's own
 * prompt, remembers it, and refuses one longer than its window, as a provider would.
 */
import { SUMMARIZERS, type SummarizerName } from "../../packages/harness/test/playback/summarizers.ts";

export interface FakeSummarizer {
  readonly profile: { readonly maxInputTokens: number };
  /** What it was last shown. */
  readonly seen: string;
  readonly calls: number;
  /** Calls whose prompt didn't fit. */
  readonly overflows: number;
  invoke(prompt: unknown): Promise<{ content: string; text: string }>;
}

export function fakeSummarizer(
  name: SummarizerName,
  { limit, count }: { limit: number; count: (text: string) => number },
): FakeSummarizer {
  const told = { seen: "", calls: 0, overflows: 0 };
  return {
    profile: { maxInputTokens: limit },
    get seen() {
      return told.seen;
    },
    get calls() {
      return told.calls;
    },
    get overflows() {
      return told.overflows;
    },
    async invoke(prompt) {
      told.calls += 1;
      told.seen = textOf(prompt);
      if (count(told.seen) > limit) {
        told.overflows += 1;
        throw new Error("400 prompt is too long");
      }
      const request = { kind: "prose", system: "", maxOutputTokens: 4096, schema: null, prefix: null } as const;
      const { text } = await SUMMARIZERS[name]({ ...request, prompt: numbered(told.seen) }, AbortSignal.timeout(20));
      return { content: text, text };
    },
  };
}

function textOf(prompt: unknown): string {
  if (typeof prompt === "string") return prompt;
  return (prompt as readonly { content: unknown }[]).map(({ content }) => String(content)).join("\n");
}

/** Our extractive summarizer knows a message by its number and role. */
function numbered(prompt: string): string {
  let seq = 0;
  return prompt.replaceAll(/^(Human|AI): /gm, (_, who) => `[#${++seq} ${who === "AI" ? "assistant" : "user"}]\n`);
}
