/** From a file's bytes to pieces, while they come in: values are cut out, the format is found out, its reader does the rest. */
import { isRecord } from "@palimpsest/core/internal/text";
import type { Format, PieceReader, PlacedValue } from "./formats/format.ts";
import { formatOf, notRecognized } from "./formats/index.ts";
import { openMessages } from "./formats/messages.ts";
import type { Piece } from "./piece.ts";
import { type Cut, type ValueSplitter, valueSplitter } from "./value-splitter.ts";

export interface PieceStream {
  push(chunk: Buffer): readonly Piece[];
  /**
   * `wait`: the file goes on, so what isn't whole is left for later. `settled`: it may go on, but what was held back because
   * more could belong to it no longer is.
   */
  end(rest?: "report" | "wait" | "settled"): readonly Piece[];
  /** Whose file it is, once that is known; null: a dialect's messages as they are. */
  format(): Format | null;
  /** What the file has and what could be read, for somebody in whose file nothing was found. */
  seen(): string;
}

export function pieceStream(given?: Format): PieceStream {
  const splitter: ValueSplitter = valueSplitter();
  let format: Format | null = given ?? null;
  let reader: PieceReader | null = given?.open() ?? null;
  let first: unknown;
  /** Values that wait for the format. */
  let early: PlacedValue[] = [];
  let earlyLength = 0;
  const settle = (): readonly Piece[] => {
    format = formatOf(early);
    const opened = format?.open() ?? openMessages(early);
    reader = opened;
    const pieces = early.flatMap((value) => [...opened.read(value)]);
    early = [];
    return pieces;
  };
  const take = (cut: Cut): readonly Piece[] => {
    if ("problem" in cut) return [{ kind: "problem", ...cut.problem }];
    const { value, text, place } = cut;
    first ??= value;
    if (!isRecord(value)) return [{ kind: "skipped" }];
    const placed = { value, text, place };
    if (reader !== null) return [...reader.read(placed)];
    early.push(placed);
    earlyLength += text.length;
    return early.length >= LOOKED_AT || earlyLength >= LOOKED_AT_LENGTH ? settle() : [];
  };
  return {
    push: (chunk) => splitter.push(chunk).flatMap(take),
    end(rest = "report") {
      const pieces = splitter.end(rest === "report" ? "report" : "wait").flatMap(take);
      const settled = reader === null ? settle() : [];
      return [...pieces, ...settled, ...(rest === "wait" ? [] : reader!.end())];
    },
    format: () => format,
    seen: () => notRecognized([first]),
  };
}

/** A log can begin with lines of any kind. */
const LOOKED_AT = 64;
const LOOKED_AT_LENGTH = 4_000_000;
