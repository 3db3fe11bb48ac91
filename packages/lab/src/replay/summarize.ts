/**
 * Stands in for a summarizing model, the same for every policy: hides all but the newest messages behind a turn with the
 * user's words, the paths and commands of the tool calls and the failing lines, cut to a summary's usual size.
 */

import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { clip } from "@palimpsest/core/internal/text";
import type { Meter } from "@palimpsest/core/internal/tokens";
import type { Prepared, View } from "./policy.ts";

const SUMMARY_TOKENS = 4000;

/** All but the newest `keep` messages, once the request reaches `trigger` tokens. */
export function summarizeOlder(
  view: View,
  options: { meter: Meter<OpenAiMessage>; fixedTokens: number; trigger: number; keep: number },
): Prepared {
  const { meter, fixedTokens, trigger, keep } = options;
  const total = fixedTokens + meter.messages(view.map(({ message }) => message));
  if (total < trigger) return { view, calls: [] };
  const cut = groupStart(view, Math.max(0, view.length - keep));
  return cut === 0 ? { view, calls: [] } : hideBefore(view, cut, meter);
}

/** The first index at or before `cut` that doesn't begin with a tool's result. */
export function groupStart(view: View, cut: number): number {
  let start = cut;
  while (start > 0 && openaiShape.role(view[start]!.message) === "tool") start--;
  return start;
}

function hideBefore(view: View, cut: number, meter: Meter<OpenAiMessage>): Prepared {
  const systems = view.slice(0, cut).filter(({ message }) => openaiShape.role(message) === "system");
  const hidden = view.slice(0, cut).filter(({ message }) => openaiShape.role(message) !== "system");
  const text = summaryOf(hidden, meter);
  const input = meter.messages(hidden.map(({ message }) => message));
  return {
    view: [
      ...systems,
      { source: "summary", seq: null, message: openaiShape.turn("user", text), addition: null },
      ...view.slice(cut),
    ],
    calls: [{ input, output: meter.text(text) }],
  };
}

function summaryOf(hidden: View, meter: Meter<OpenAiMessage>): string {
  const prompts: string[] = [];
  const did: string[] = [];
  for (const { seq, message } of hidden.toReversed()) {
    const role = openaiShape.role(message);
    for (const part of openaiShape.parts(message)) {
      if (part.kind === "text" && role === "user") prompts.push(clip(part.text, seq === null ? 8000 : 400));
      if (part.kind === "text" && role === "assistant") prompts.push(clip(part.text, 160));
      if (part.kind === "call") did.push(clip(`${part.name} ${part.input}`, 120));
    }
  }
  return [
    "Summary of the conversation so far.",
    ...fitting(prompts, meter, 0.6),
    "Calls:",
    ...fitting(did, meter, 0.4),
  ].join("\n");
}

/** The newest lines that fit, oldest first. */
function fitting(lines: readonly string[], meter: Meter<OpenAiMessage>, share: number): string[] {
  const keptLines: string[] = [];
  let tokens = 0;
  for (const line of new Set(lines)) {
    tokens += meter.text(line);
    if (tokens > SUMMARY_TOKENS * share) break;
    keptLines.push(line);
  }
  return keptLines.reverse();
}
