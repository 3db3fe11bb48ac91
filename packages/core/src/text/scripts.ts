/** Which scripts write without spaces between words: there a word is found by pairs of neighbouring letters. */

/** For a character class. The last two are the long vowel marks of Katakana, which belong to no script. */
export const SPACELESS =
  "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}\\u30fc\\uff70";

const ANY = new RegExp(`[${SPACELESS}]`, "u");

/** Whether any of it is written without spaces. */
export function isSpaceless(text: string): boolean {
  return ANY.test(text);
}
