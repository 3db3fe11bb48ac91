/** A prompt of plain numbers: the messages as they are given, four characters a token, no provider's rules. */

import type { ViewEntry } from "@palimpsest/core/internal/log";
import type { Shape } from "@palimpsest/core/internal/message";
import { buildPrompt, createSizer, fixedSize, type Prompt } from "@palimpsest/core/internal/prompt";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";

export function plainPrompt<M extends object>(
  view: readonly Pick<ViewEntry<M>, "seq" | "message">[],
  shape: Shape<M>,
  fixed = 0,
): Prompt<M> {
  const meter = createMeter(shape, { counter: charsPerToken(4) });
  const rules = { name: "none", rules: [] };
  const sizer = createSizer({ shape, rules, meter, fixed: fixedSize({ base: fixed }) });
  const entries = view.map((entry): ViewEntry<M> => ({ source: "message", addition: null, ...entry }));
  return buildPrompt(entries, { sizer, key: "-/-" });
}
