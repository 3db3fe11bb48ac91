/**
 * A system prompt that stands in several blocks, without its words: the log keeps the words once, as one text, where they
 * can be erased; with this they become the same blocks again. Pure.
 */
import { type Fields, listIn } from "../vendor.ts";

/** Between the texts of blocks, where they stand as one. */
const BETWEEN = "\n\n";

/** All its words. */
export function systemText(system: unknown): string {
  if (typeof system === "string") return system;
  return listIn(system)
    .map((block) => String((block as Fields)["text"] ?? ""))
    .join(BETWEEN);
}

/** Null: it is one text, or isn't there. Each block says how many characters are its own. */
export type SystemOutline = readonly (Fields & { readonly text: number })[] | null;

export function systemOutline(system: unknown): SystemOutline {
  if (!Array.isArray(system)) return null;
  return system.map((block: Fields) => ({ ...block, text: String(block["text"] ?? "").length }));
}

/** Undefined: there was none. */
export function systemFrom(outline: SystemOutline, text: string): unknown {
  if (outline === null) return text === "" ? undefined : text;
  let from = 0;
  return outline.map((block) => {
    const own = text.slice(from, from + block.text);
    from += block.text + BETWEEN.length;
    return { ...block, text: own };
  });
}
