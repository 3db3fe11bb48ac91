/**
 * How many tokens of quotes each cut of a prompt could have beside its summary: what the hidden part would hold of the
 * model's own writes, edits and commands that nothing later replaces. An estimate: which of them are quoted is decided when
 * the summary is written.
 */
import { sizesOf } from "../prompt/parts.ts";
import type { Prompt } from "../prompt/prompt.ts";
import { ownText } from "../summary/ledger/tool-calls.ts";
import { quotable, WORK_HEADING } from "../summary/work/quote-work.ts";
import { extendWork, NO_WORK } from "../summary/work/work.ts";

/** Number, kind, path and fence. */
const FRAME_TOKENS = 16;

/** By the index at which the tail begins. */
export function quoteSizes<M>(prompt: Prompt<M>): (cut: number) => number {
  const { entries, sizer } = prompt;
  const { shape } = sizer;
  const count = sizesOf(prompt).text;
  const places = new Map<number, number>();
  const said = entries.flatMap(({ source, seq, message, role }, index) => {
    if (source !== "message" || seq === null || role === "system") return [];
    places.set(seq, index);
    return [{ seq, message }];
  });
  const sizes = new Array<number>(entries.length + 1).fill(0);
  for (const { seq, part } of quotable(extendWork(NO_WORK, said, shape))) {
    const index = places.get(seq)!;
    const text = ownText(shape.parts(entries[index]!.message)[part]);
    if (text !== null) sizes[index + 1]! += count(text) + FRAME_TOKENS;
  }
  for (const { source, message } of entries)
    if (source === "summary")
      for (const part of shape.parts(message))
        if (part.kind === "text" && part.text.includes(WORK_HEADING))
          sizes[0]! += count(part.text.slice(part.text.indexOf(WORK_HEADING)));
  for (let index = 1; index < sizes.length; index += 1) sizes[index]! += sizes[index - 1]!;
  return (cut) => sizes[cut]!;
}
