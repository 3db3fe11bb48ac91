/**
 * A stand-in for a good model's summary that knows what the judge asks: within 1,500 tokens the beginnings of the user's
 * requests, newest first, and the names, paths and numbers that stand in most messages of the assistant. Printed apart.
 */
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import { readable } from "@palimpsest/lab/internal/eval";
import type { FakeSummarizer } from "../playback/fake-summarizer.ts";

const TOKENS = 1500;
const NAME = /[\w@~.+-]{0,80}(?:\/[\w@.+-]{1,80}){1,20}|[A-Za-z_$][\w$]*[A-Z_\d][\w$]*|\b\d[\d.,:]{2,}\b/g;

export function richSummarizer(options: {
  readonly limit: number;
  readonly count: (text: string) => number;
  readonly said: readonly OpenAiMessage[];
}): FakeSummarizer {
  const { limit, count, said } = options;
  let calls = 0;
  let seen = "";
  return {
    profile: { maxInputTokens: limit },
    get seen() {
      return seen;
    },
    get calls() {
      return calls;
    },
    overflows: 0,
    async invoke(prompt) {
      calls += 1;
      seen = typeof prompt === "string" ? prompt : JSON.stringify(prompt);
      const text = [
        ...within(requests(said), TOKENS / 2, count),
        "",
        within(names(said), TOKENS / 2, count).join(", "),
      ];
      return { content: text.join("\n"), text: text.join("\n") };
    },
  };
}

function requests(said: readonly OpenAiMessage[]): readonly string[] {
  return said
    .filter(({ role }) => role === "user")
    .map((message) => readable(message).slice(0, 160))
    .reverse();
}

function names(said: readonly OpenAiMessage[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const message of said) {
    const weight = message.role === "assistant" ? 1 : 0.1;
    for (const name of new Set(readable(message).match(NAME) ?? [])) counts.set(name, (counts.get(name) ?? 0) + weight);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

function within(texts: readonly string[], tokens: number, count: (text: string) => number): readonly string[] {
  const chosen: string[] = [];
  let left = tokens;
  for (const text of texts) {
    left -= count(text) + 2;
    if (left < 0) break;
    chosen.push(text);
  }
  return chosen;
}
