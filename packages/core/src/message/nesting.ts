/**
 * How deep JSON may be nested before it is treated as text: values are walked and written recursively, and a
 * stack that overflows once would overflow at every later turn of its thread.
 */

const MOST_NESTED = 500;

/** Counts brackets outside of strings; takes text that is JSON, and any other. */
export function isNestedTooDeeply(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    if (depth > MOST_NESTED) return true;
  }
  return false;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
