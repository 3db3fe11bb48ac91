/** Counts what of a file isn't carried over, by kind: a long conversation would name the same a thousand times. */
import type { Problem } from "./conversation.ts";
import type { ImportPiece } from "./piece.ts";

export interface Omissions {
  add(piece: ImportPiece): void;
  skipped(): number;
  problems(): readonly Problem[];
  /** What was left out of conversations, and what was kept as a mark. */
  notes(): readonly Problem[];
}

export function omissions(): Omissions {
  let skipped = 0;
  const problems: Problem[] = [];
  let unnamed = 0;
  const left = new Map<string, { readonly place: string; readonly what: string; times: number }>();
  const marks = new Map<string, number>();
  return {
    add(piece) {
      if (piece.kind === "skipped") skipped += 1;
      else if (piece.kind === "problem") {
        if (problems.length < NAMED) problems.push({ place: piece.place, message: piece.message });
        else unnamed += 1;
      } else if (piece.kind === "mark") {
        const { program } = piece.event;
        marks.set(program, (marks.get(program) ?? 0) + 1);
      } else if (piece.kind === "left") {
        const { place, what } = piece;
        const id = left.size < NAMED ? `${place}\n${what}` : "";
        const known = left.get(id) ?? { place: id === "" ? "" : place, what: id === "" ? "more" : what, times: 0 };
        known.times += 1;
        left.set(id, known);
      }
    },
    skipped: () => skipped,
    problems: () =>
      unnamed === 0 ? problems : [...problems, { place: "", message: `and ${unnamed} more of this kind` }],
    notes: () => [
      ...[...left.values()].map(({ place, what, times }) => ({
        place,
        message: `left out: ${what}${times > 1 ? ` (${times} times)` : ""}`,
      })),
      ...[...marks].map(([program, times]) => ({
        place: "",
        message: `kept as ${times > 1 ? `${times} marks` : "a mark"}: what ${program} itself compacted; what that hid is imported`,
      })),
    ],
  };
}

/** A file may have a million bad lines. */
const NAMED = 1000;
