/**
 * Cuts the raw text of members and elements out of a JSON text, so that a message is stored with the very bytes it had
 * in its file: its own spacing, escapes and number spellings. Takes text that `JSON.parse` has already accepted and
 * must not be used as a validator. One pass, no recursion: the cost is the length, whatever the nesting.
 */

/** The raw text of every member's value. Of a repeated name the last one counts, as in `JSON.parse`. */
export function memberSlices(object: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(object, skipSpace(object, 0) + 1);
  while (object[at] === '"') {
    const nameEnd = valueEnd(object, at);
    const name: string = JSON.parse(object.slice(at, nameEnd));
    const start = skipSpace(object, skipSpace(object, nameEnd) + 1);
    const end = valueEnd(object, start);
    members.set(name, object.slice(start, end));
    at = skipSpace(object, skipSpace(object, end) + 1);
  }
  return members;
}

/** The raw text of every element, in order. */
export function elementSlices(array: string): string[] {
  const elements: string[] = [];
  let at = skipSpace(array, skipSpace(array, 0) + 1);
  while (at < array.length && array[at] !== "]") {
    const end = valueEnd(array, at);
    elements.push(array.slice(at, end));
    at = skipSpace(array, skipSpace(array, end) + 1);
  }
  return elements;
}

/**
 * The value on one line: text without a line break stays as it is, other text loses the white space outside its strings
 * (a line break can't stand inside a JSON string).
 */
export function withoutBreaks(value: string): string {
  if (!/[\n\r]/.test(value)) return value;
  const slices: string[] = [];
  let at = skipSpace(value, 0);
  while (at < value.length) {
    const start = at;
    if (value[at] === '"') at = stringEnd(value, at);
    else while (at < value.length && value[at] !== '"' && !isSpace(value.charCodeAt(at))) at += 1;
    slices.push(value.slice(start, at));
    at = skipSpace(value, at);
  }
  return slices.join("");
}

function valueEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const char = text[at];
    if (char === '"') at = stringEnd(text, at);
    else if (char === "{" || char === "[") {
      depth += 1;
      at += 1;
    } else if (char === "}" || char === "]") {
      depth -= 1;
      at += 1;
    } else if (char === "," || char === ":" || isSpace(text.charCodeAt(at))) at += 1;
    else at = literalEnd(text, at);
  } while (depth > 0 && at < text.length);
  return at;
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return text.length;
    let before = quote - 1;
    while (before >= at && text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((quote - 1 - before) % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** A number, `true`, `false` or `null`. */
function literalEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && /[\w.+-]/.test(text[at]!)) at += 1;
  return at;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/** The four characters JSON calls white space. */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

const BACKSLASH = 0x5c;
