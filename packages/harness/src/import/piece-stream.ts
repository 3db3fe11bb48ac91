/** From a file's bytes to pieces, while they come in: values are cut out, the format is found out, its reader does the rest. */
import { isRecord } from "@palimpsest/core/internal/text";
import type { Format, PieceReader, PlacedValue } from "./formats/format.ts";
import { formatOf, notRecognized } from "./formats/index.ts";
import { openMessages } from "./formats/messages.ts";
import type { ImportPiece } from "./piece.ts";
import { type ValueCut, type ValueLimit, type ValueSplitter, valueSplitter } from "./value-splitter.ts";

/** Pieces are made while they are asked for, all of which has to be done before the next call: a conversation may have very many. */
export interface PieceStream {
  push(chunk: Buffer): Iterable<ImportPiece>;
  /**
   * `wait`: the file goes on, so what isn't whole is left for later. `settled`: it may go on, but what was held back because
   * more could belong to it no longer is.
   */
  end(rest?: "report" | "wait" | "settled"): Iterable<ImportPiece>;
  /** Whose file it is, once that is known; null: a dialect's messages as they are. */
  format(): Format | null;
  /** What the file has and what could be read, for somebody in whose file nothing was found. */
  seen(): string;
  /** At least one value could be parsed. */
  holdsJson(): boolean;
}

export function pieceStream(given?: Format, most?: ValueLimit): PieceStream {
  const splitter: ValueSplitter = valueSplitter(most);
  let format: Format | null = given ?? null;
  let reader: PieceReader | null = given?.open() ?? null;
  let first: unknown;
  /** Values that wait for the format. */
  let early: PlacedValue[] = [];
  let earlyLength = 0;
  function* settle(): Generator<ImportPiece> {
    format = formatOf(early);
    const opened = format?.open() ?? openMessages(early);
    reader = opened;
    const values = early;
    early = [];
    for (const value of values) yield* opened.read(value);
  }
  const take = (cut: ValueCut): Iterable<ImportPiece> => {
    if ("problem" in cut) return [{ kind: "problem", ...cut.problem }];
    const { value, text, place } = cut;
    first ??= value;
    if (!isRecord(value)) return [{ kind: "skipped" }];
    const placed = { value, text, place };
    if (reader !== null) return reader.read(placed);
    early.push(placed);
    earlyLength += text.length;
    return early.length >= LOOKED_AT || earlyLength >= LOOKED_AT_LENGTH ? settle() : [];
  };
  return {
    *push(chunk) {
      for (const cut of splitter.push(chunk)) yield* take(cut);
    },
    *end(rest = "report") {
      for (const cut of splitter.end(rest === "report" ? "report" : "wait")) yield* take(cut);
      if (reader === null) yield* settle();
      if (rest !== "wait") yield* reader!.end();
    },
    format: () => format,
    seen: () => notRecognized([first]),
    holdsJson: () => first !== undefined,
  };
}

/** A log can begin with lines of any kind. */
const LOOKED_AT = 64;
const LOOKED_AT_LENGTH = 4_000_000;
