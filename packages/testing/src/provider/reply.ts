/** From what a test answers to what the provider would send: ids, usage, and an end where the limits are reached. */
import type { CountText } from "@palimpsest/core/internal/tokens";
import type { PlayedAnswer } from "palimpsest/internal/played-answer";
import type { Reply } from "./protocol.ts";

export interface ProviderLimits {
  readonly input: number;
  readonly cached: number;
  readonly window: number;
  readonly maxOutputTokens: number | null;
}

export interface Named {
  readonly id: string;
  readonly model: string;
  readonly signature: string;
  readonly reportsUsage: boolean;
}

export function replyOf(answer: PlayedAnswer, named: Named, limits: ProviderLimits, count: CountText): Reply {
  const calls = (answer.calls ?? []).map(({ id, name, input }, index) => ({
    id: id ?? `call_${named.id}_${index}`,
    name,
    input: typeof input === "string" ? input : JSON.stringify(input ?? {}),
  }));
  const given = { text: answer.text ?? "", reasoning: answer.reasoning ?? "", calls };
  const stop = stopOf(answer);
  const full = { ...named, ...given, ...stop, usage: usageOf(given, limits, count) };
  const inWindow = Math.max(0, limits.window - limits.input);
  const room = Math.min(inWindow, limits.maxOutputTokens ?? Infinity);
  if (full.usage.output <= room) return full;
  const cut = { text: headOf(given.text, room, count), reasoning: "", calls: [] };
  const limit = inWindow <= room ? "window" : "length";
  return { ...named, ...cut, stop: limit, rawStop: null, usage: usageOf(cut, limits, count) };
}

function stopOf({ finish, calls = [] }: PlayedAnswer): Pick<Reply, "stop" | "rawStop"> {
  const unified = typeof finish === "object" ? finish.unified : finish;
  const rawStop = typeof finish === "object" ? (finish.raw ?? null) : null;
  if (unified === "length" || unified === "content-filter") return { stop: unified, rawStop };
  return { stop: calls.length > 0 ? "tool-calls" : "stop", rawStop };
}

type ReplyContent = Pick<Reply, "text" | "reasoning" | "calls">;

function usageOf(
  { text, reasoning, calls }: ReplyContent,
  { input, cached }: ProviderLimits,
  count: CountText,
): Reply["usage"] {
  const called = calls.reduce((sum, call) => sum + count(call.name) + count(call.input), 0);
  return { input, cached, output: count(text) + count(reasoning) + called };
}

/** The longest beginning of a text within so many tokens. */
function headOf(text: string, tokens: number, count: CountText): string {
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (count(text.slice(0, middle)) <= tokens) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low);
}
