/**
 * The port for files that don't hold a dialect's messages as they are: what apps and tools write for themselves. A format
 * recognizes its values and makes conversations of them; what it leaves out it says.
 */
import type { ImportedConversation, ImportedMessage, Problem } from "../conversation.ts";

export interface Format {
  /** For people: `ChatGPT export`. */
  readonly name: string;
  /** Whether a value of the file, an element of its array or one of its lines, can only be of this format. */
  readonly recognizes: (value: Readonly<Record<string, unknown>>) => boolean;
  readonly read: (values: readonly PlacedValue[]) => FormatReading;
}

/** A value and where it stands in the file. */
export interface PlacedValue {
  readonly value: Readonly<Record<string, unknown>>;
  readonly place: string;
}

interface FormatReading {
  readonly conversations: readonly ImportedConversation[];
  /** Values that hold no message. */
  readonly skipped: number;
  /** What was left out of those that do. */
  readonly notes: readonly Problem[];
}

/** A message that the format has made; the file has no text of its own for it. */
export function madeMessage(
  value: object,
  facts: { readonly place: string } & Partial<Pick<ImportedMessage, "at" | "model" | "usage">>,
): ImportedMessage {
  const { place, at = null, model = null, usage = null } = facts;
  return { place, body: JSON.stringify(value), value: value as ImportedMessage["value"], at, model, usage };
}

/** `what`, once for each place and kind: a long conversation would repeat it a thousand times. */
export function notesOf(place: string, left: readonly string[]): Problem[] {
  const counted = Map.groupBy(left, (what) => what);
  return [...counted].map(([what, all]) => ({
    place,
    message: `left out: ${what}${all.length > 1 ? ` (${all.length} times)` : ""}`,
  }));
}
