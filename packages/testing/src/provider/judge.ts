/** Whether the provider would take a request: its size in bytes, its rules, its window. Pure. */
import type { Failure, OverflowStyle, ReadRequest } from "./protocol.ts";

type JudgedText = Extract<ReadRequest, { kind: "request" }>;

export interface Law {
  readonly window: number;
  readonly maxBytes: number;
  readonly overflow: OverflowStyle;
  readonly rules: "strict" | "off";
  /** What a thought that stands in another conversation than its own is refused with; null where none does. */
  readonly misplaced: () => Failure | null;
}

export function judge(
  request: JudgedText,
  size: { readonly tokens: number; readonly bytes: number },
  law: Law,
): Failure | null {
  if (size.bytes > law.maxBytes) return { kind: "too-large" };
  if (law.rules === "strict") {
    const [first, ...others] = request.conversation.violations();
    if (first !== undefined) {
      const more = others.length === 0 ? "" : `, and ${others.length} more`;
      return { kind: "rules", index: first.index, detail: `${first.detail} (${first.rule}${more})` };
    }
  }
  const misplaced = law.misplaced();
  if (misplaced !== null) return misplaced;
  if (size.tokens <= law.window || law.overflow === "stop-reason") return null;
  return {
    kind: "overflow",
    style: law.overflow,
    tokens: size.tokens,
    window: law.window,
    maxOutputTokens: request.maxOutputTokens,
  };
}
