/** A text made short or flat, for a line of a summary, a log or a screen. Never cuts through a character. */

/** At most `maxChars` UTF-16 units, marked when cut, never through a surrogate pair. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let end = Math.max(0, maxChars - 1);
  const unit = text.charCodeAt(end - 1);
  if (unit >= 0xd800 && unit <= 0xdbff) end--;
  return `${text.slice(0, end)}…`;
}

/** Text is never cut before one: it would part a pair. */
export function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** One line, no control characters, capped without splitting a character. */
export function oneLine(text: string, maxChars: number): string {
  // A long text is cut first, so that a 5 MB item costs no more than a short one.
  const head = text.length > maxChars * 4 ? text.slice(0, maxChars * 4) : text;
  return clip(flatten(head).trim(), maxChars);
}

/** All white space, line breaks of every kind and control characters as single blanks. */
export function flatten(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ");
}
