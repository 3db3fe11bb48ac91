/**
 * Shortening what can't be hidden: an oversized part becomes its head, its tail and a pointer to the whole. Calls stay
 * valid JSON, signed messages keep their calls untouched. Yields prune entries; the originals stay in the log.
 */
import { applyPrunes } from "../log/apply-prune.ts";
import type { PruneEntry } from "../log/record.ts";
import { isNestedTooDeeply, jsonOr } from "../message/schema.ts";
import type { Part, Shape } from "../message/shape.ts";
import type { SizedEntry } from "../prompt/prompt.ts";
import type { PromptSizes } from "../prompt/sizer.ts";
import { mediaName, type Originals, whereMedia, whereMessage } from "../summary/render-lines.ts";
import { isLowSurrogate } from "../text/names.ts";

export interface Clamped {
  readonly tokens: number;
  readonly entries: readonly PruneEntry[];
}

interface ClampContext<M> {
  readonly shape: Shape<M>;
  readonly sizes: PromptSizes<M>;
  readonly originals: Originals;
}

/** The entry with every part over `most` tokens shortened to it, as far as its parts allow. */
export function clampEntry<M>(entry: SizedEntry<M>, most: number, context: ClampContext<M>): Clamped {
  const { shape, sizes, originals } = context;
  const seq = entry.seq;
  if (seq === null) return { tokens: sizes.entry(entry), entries: [] };
  const parts = shape.parts(entry.message);
  const signed = isSigned(parts);
  const own = sizes.parts(entry.message);
  const entries = parts.flatMap((part, index): PruneEntry[] => {
    const places = { where: whereMessage(seq, originals), mediaWhere: whereMedia(originals) };
    const replacement = clampPart(part, { ...places, most, signed, tokens: own[index]?.text ?? 0, count: sizes.text });
    return replacement === null ? [] : [{ target: seq, part: index, replacement, reason: "clamped" }];
  });
  const message = applyPrunes(entry.message, entries, shape);
  return { tokens: sizes.entry(entry, message), entries };
}

/** The size of each part that can be shortened, images included; 0 for the others. */
export function clampableTokens<M>(entry: SizedEntry<M>, shape: Shape<M>, sizes: PromptSizes<M>): readonly number[] {
  if (entry.seq === null) return [];
  const parts = shape.parts(entry.message);
  const signed = isSigned(parts);
  const own = sizes.parts(entry.message);
  const texts = parts.map((part, index) => (isClampable(part, signed) ? own[index]!.text : 0));
  // Whatever the texts don't explain is pictures and files, if there are any: they go whole.
  const pictures = parts.map((part) => part.kind === "image" || part.kind === "file");
  const share = pictures.filter(Boolean).length;
  if (share === 0) return texts;
  const unexplained = Math.max(0, sizes.message(entry.message) - texts.reduce((sum, tokens) => sum + tokens, 0));
  return texts.map((tokens, index) => (pictures[index] ? Math.floor(unexplained / share) : tokens));
}

function isClampable(part: Part, signed: boolean): boolean {
  if (part.kind === "reasoning") return part.signature === null;
  return part.kind === "text" || part.kind === "result" || (part.kind === "call" && !signed);
}

function isSigned(parts: readonly Part[]): boolean {
  return parts.some((part) => part.kind === "reasoning" && part.signature !== null);
}

/** At most `most` tokens of `text`: its beginning, its end, and between them the pointer. */
function clampText(
  text: string,
  { tokens, most, count }: Pick<ClampOptions, "tokens" | "most" | "count">,
  pointer: string,
): string {
  if (tokens <= most) return text;
  const room = Math.max(0, most - count(pointer) - 4);
  let characters = Math.floor((text.length * room) / tokens);
  while (characters >= 16) {
    const clamped = headAndTail(text, characters, pointer);
    const counted = count(clamped);
    if (counted <= most) return clamped;
    characters = Math.floor(characters * Math.max(0.5, Math.min(0.98, (0.99 * most) / counted)));
  }
  return pointer;
}

interface ClampOptions {
  readonly most: number;
  /** Where the whole is; "" when the model can't get at it. */
  readonly where: string;
  readonly mediaWhere: string;
  readonly signed: boolean;
  /** Of the part's text. */
  readonly tokens: number;
  readonly count: (text: string) => number;
}

function clampPart(part: Part, options: ClampOptions): string | null {
  const { most, where, mediaWhere, signed, tokens, count } = options;
  const pointer = where === "" ? "[... cut here ...]" : `[... cut here; ${where} has all of it ...]`;
  switch (part.kind) {
    case "text":
    case "result": {
      const images = part.kind === "result" && part.images.length > 0;
      return images || tokens > most ? clampText(part.text, options, pointer) : null;
    }
    case "reasoning":
      return part.signature === null && tokens > most ? clampText(part.text, options, pointer) : null;
    case "call":
      return signed || tokens <= most ? null : clampInput(part.input, most, count, pointer);
    case "image":
    case "file":
      return `[${mediaName(part)}; left out${mediaWhere === "" ? "" : `, ${mediaWhere} has it`}]`;
    case "other":
      return null;
  }
}

/** A call's input with its long strings shortened, keys kept; when that isn't enough, an object with just the pointer. */
function clampInput(input: string, most: number, count: (text: string) => number, pointer: string): string {
  const fallback = JSON.stringify({ clamped: pointer });
  if (isNestedTooDeeply(input)) return fallback;
  const value = jsonOr(input, null);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fallback;
  const fields = Object.entries(value);
  const each = Math.floor(most / (fields.length + 1));
  const shortened = Object.fromEntries(
    fields.map(([key, field]) => {
      const text = typeof field === "string" ? field : JSON.stringify(field);
      const tokens = count(text);
      return [key, tokens > each ? clampText(text, { tokens, most: each, count }, pointer) : field];
    }),
  );
  const clamped = JSON.stringify(shortened);
  return count(clamped) <= most ? clamped : fallback;
}

function headAndTail(text: string, characters: number, pointer: string): string {
  const head = sliceWhole(text, 0, Math.ceil(characters * 0.6));
  const tail = sliceWhole(text, text.length - Math.floor(characters * 0.4), text.length);
  return `${head}\n${pointer}\n${tail}`;
}

/** A slice that never leaves half a surrogate pair at either end. */
function sliceWhole(text: string, from: number, to: number): string {
  const start = isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from;
  const end = isLowSurrogate(text.charCodeAt(to)) ? to - 1 : to;
  return text.slice(start, end);
}

/** No summary is shorter. */
export const STUB_TOKENS = 128;
