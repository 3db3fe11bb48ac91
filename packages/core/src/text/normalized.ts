/**
 * Unicode normalization of text from strangers. Engines sort a run of combining marks in quadratic time, so that a few
 * hundred kilobytes of marks would keep a process busy for minutes. No written language has runs as long as the limit,
 * which is that of Unicode's Stream-Safe Text Format.
 */

const MOST_MARKS = 30;
const LONG_RUN = new RegExp(`(\\p{M}{${MOST_MARKS}})\\p{M}+`, "gu");

/** Normalizes the text; of a run of more than 30 combining marks the rest is dropped. */
export function normalized(text: string, form: "NFC" | "NFD" | "NFKC" | "NFKD"): string {
  return text.replace(LONG_RUN, "$1").normalize(form);
}
