/**
 * Makes a model's prose fit to be remembered: sentences lose their authority one by one [F34] [F35], and a long paragraph
 * becomes one line per sentence, so that a summary that must be shortened sheds sentences and not everything.
 */

import { oneLine } from "../../text/clip.ts";
import { neutralize } from "./authority.ts";
import type { DropReason } from "./merge.ts";

export interface NeutralProse {
  readonly text: string;
  /** What lost its authority, and why. */
  readonly dropped: readonly { readonly what: string; readonly why: DropReason }[];
}

const LONG_LINE = 400;
const SENTENCE_END = /(?<=[.!?]["')\]]?)[ \t]+(?=\S)|(?<=[。！？])(?=\S)/u;

export function neutralizeProse(text: string): NeutralProse {
  const dropped: { what: string; why: DropReason }[] = [];
  const settle = (piece: string): string => {
    const { text: safe, changed } = neutralize(piece, "other");
    if (changed !== null) {
      dropped.push({
        what: oneLine(piece, 160),
        why: changed === "approval" ? "approval-spent" : "imperative-reported",
      });
    }
    return safe;
  };
  const lines = text.split("\n").flatMap((line) => {
    const settled = line.split(SENTENCE_END).map(settle);
    return line.length > LONG_LINE ? settled : [settled.join(" ")];
  });
  return { text: lines.join("\n"), dropped };
}
