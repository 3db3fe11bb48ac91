/**
 * The strings in a call's input. What a model has written itself (a file, an edit, a command) is what it quotes later on,
 * so only the text that an edit has replaced goes while there is room: it stands nowhere any more.
 */
import { isNestedTooDeeply } from "../../message/nesting.ts";
import { PRUNED } from "./mark.ts";

/** Which long strings of an input go. */
export type Going = "all" | "replaced";

/** Strings up to this length stay: they are paths, flags, short texts. */
const KEPT_STRING = 160;

/** Whether the string under this key goes. */
export function goes(text: string, key: string, going: Going): boolean {
  if (text.length <= KEPT_STRING || text.startsWith(PRUNED)) return false;
  return going === "all" || isReplaced(key);
}

/** Share of the input that such strings make up; 0 for what is no JSON. */
export function goingShare(input: string, going: Going): number {
  let characters = 0;
  editStrings(parsedInput(input), (text, key) => {
    if (goes(text, key, going)) characters += text.length;
    return text;
  });
  return Math.min(1, characters / Math.max(1, input.length));
}

/** Null for what can't be read safely. */
export function parsedInput(input: string): object | null {
  if (isNestedTooDeeply(input)) return null;
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/** A copy with each string replaced by what `edit` makes of it. `key`: the nearest one above it. */
export function editStrings(value: unknown, edit: (text: string, key: string) => string, key = ""): unknown {
  if (typeof value === "string") return edit(value, key);
  if (Array.isArray(value)) return value.map((item) => editStrings(item, edit, key));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, editStrings(item, edit, name)]));
  return value;
}

/** `oldText`, `old_string`, `old_str` and whatever else agents call it. */
function isReplaced(key: string): boolean {
  return /^old/i.test(key);
}
