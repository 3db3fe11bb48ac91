/**
 * Cuts a long message into passages of some sentences, so that it is found by what one place of it says, not by words that stand
 * far apart. A term's passages are a set of bits. Pure, linear.
 */
import { splitUnits } from "./units.ts";

/** So many fit into what a store keeps beside a weight; of a longer message they are longer. */
export const MOST_PASSAGES = 12;
const PASSAGE_CHARACTERS = 500;
/** The largest weight that a store keeps beside passages, in hundredths. */
export const MOST_HUNDREDTHS = 2 ** 18 - 1;

/** Where each passage begins, in order; a single one where the text is not much longer than that. */
export function passageStarts(text: string): number[] {
  const size = Math.max(PASSAGE_CHARACTERS, Math.ceil((1.2 * text.length) / MOST_PASSAGES));
  const starts = [0];
  if (text.length <= size) return starts;
  for (const { at, end } of splitUnits(text, size))
    if (end - starts.at(-1)! > size && at > starts.at(-1)! && starts.length < MOST_PASSAGES) starts.push(at);
  return starts;
}

/** How many passages are in the set. */
export function countOf(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
