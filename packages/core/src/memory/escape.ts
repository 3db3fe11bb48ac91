/**
 * Makes remembered text harmless inside a prompt block [F37]: one line, no angle bracket or look-alike of one, no
 * character that can't be seen or that turns the reading direction. What it says stays readable.
 */

/** A text as one safe line. */
export function escapeLine(text: string): string {
  return text
    .replace(INVISIBLE, "")
    .replace(JOINERS, (joiner, at: number, whole: string) => (joins(whole, at) ? joiner : ""))
    .replace(LESS, "&lt;")
    .replace(GREATER, "&gt;")
    .replace(/[\s\u2028\u2029\u0085\p{Cc}]+/gu, " ")
    .trim();
}

/** The same text without what can't be seen, for storing and comparing. */
export function visible(text: string): string {
  return text
    .replace(INVISIBLE, "")
    .replace(JOINERS, (joiner, at: number, whole: string) => (joins(whole, at) ? joiner : ""))
    .replace(/[^\S\n]+/g, " ")
    .trim();
}

/** Zero-width, direction marks and overrides, soft hyphens, tag characters, annotations; joiners and emoji forms are looked at apart. */
const INVISIBLE = /(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/gu;
const JOINERS = /[\u200c\u200d]/g;

/** Persian and Indic words and joined emoji need them; between Latin letters they only hide something. */
function joins(text: string, at: number): boolean {
  const before = text.codePointAt(at - 1) ?? 0;
  const after = text.codePointAt(at + 1) ?? 0;
  return before > 0x2ff && after > 0x2ff && !LOOKALIKE.test(String.fromCodePoint(after));
}

const LESS =
  /[<\u02c2\u1438\u16b2\u1bf0\u2039\u226e\u2329\u276e\u276c\u2770\u27e8\u29fc\u3008\u300a\ufe3d\ufe3f\ufe64\uff1c\u{1d236}]/gu;
const GREATER =
  /[>\u02c3\u1433\u16b3\u203a\u226f\u232a\u276d\u276f\u2771\u27e9\u29fd\u3009\u300b\ufe3e\ufe40\ufe65\uff1e\u{1f902}]/gu;
const LOOKALIKE = /[\u2039\u203a\u2329\u232a\u276c-\u2771\u27e8\u27e9\u3008-\u300b\uff1c\uff1e/\uff0f]/;
