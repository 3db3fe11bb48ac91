/** The smallest pieces of a text that are shown or ranked: lines and sentences. They cover the text without gaps. Pure. */

/** Lines and sentences; one that is longer than that falls apart at spaces, or anywhere if it has none. */
export function splitUnits(text: string, longest: number): { at: number; end: number }[] {
  const units: { at: number; end: number }[] = [];
  let at = 0;
  for (const border of text.matchAll(BORDER)) {
    const end = border.index + border[0].length;
    splitLong(text, at, end, longest, units);
    at = end;
  }
  splitLong(text, at, text.length, longest, units);
  return units;
}

const BORDER = /\n+|(?<![.!?\u3002\uff01\uff1f])[.!?\u3002\uff01\uff1f]+["')\]]*\s+|[\u3002\uff01\uff1f]/g;

function splitLong(
  text: string,
  from: number,
  to: number,
  longest: number,
  units: { at: number; end: number }[],
): void {
  let at = from;
  while (to - at > longest) {
    const space = text.lastIndexOf(" ", at + longest);
    let end = space > at ? space + 1 : at + longest;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    units.push({ at, end });
    at = end;
  }
  if (to > at) units.push({ at, end: to });
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
