/**
 * The first reading of a file, which writes nothing: what threads it has, in which dialect, and what is wrong with it. The
 * pieces of a file that isn't large are kept for the writing; a large one is read again.
 */
import { createHash } from "node:crypto";
import { type Dialect, dialectVotes } from "@palimpsest/core/internal/message";
import type { ByteSource } from "./byte-source.ts";
import type { ImportedMessage, Problem } from "./conversation.ts";
import { type Gatherer, gatherer } from "./gather.ts";
import { type Omissions, omissions } from "./omissions.ts";
import type { ImportedThread, ImportPiece, ThreadPiece } from "./piece.ts";
import { type PieceStream, pieceStream } from "./piece-stream.ts";
import { messageProblem, nestingProblem, strayResults } from "./validate.ts";

export interface Checked {
  readonly dialect: Dialect;
  /** Threads with at least one message, in file order. */
  readonly threads: readonly CheckedThread[];
  readonly skipped: number;
  readonly invalid: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly format: string | null;
  readonly seen: string;
  /** At least one value could be parsed. */
  readonly holdsJson: boolean;
  /** SHA-256 of the file. */
  readonly digest: string;
  /** The valid pieces once more. */
  pieces(onBytes: OnBytes): AsyncIterable<readonly ImportPiece[]>;
}

export interface CheckedThread {
  readonly opened: ImportedThread;
  /** Valid ones. */
  readonly messages: number;
}

/** Called often with the bytes read so far; awaited, so that the caller can stay responsive. */
type OnBytes = (bytes: number) => Promise<void>;

export interface CheckOptions {
  readonly onBytes: OnBytes;
  /** With the messages read so far, 0 first. It may throw: then nothing is written. */
  readonly onMessages?: ((messages: number) => void) | undefined;
}

/** `held`: characters of messages that are kept for the writing; a file with more is read again. */
export async function checkFile(
  source: ByteSource,
  held: number,
  { onBytes, onMessages = () => {} }: CheckOptions,
): Promise<Checked> {
  const digest = createHash("sha256");
  const votes = dialectVotes();
  const stream = pieceStream(undefined, source.mostOfValue);
  let early: ImportPiece[] = [];
  let check: Checker | null = null;
  const dialect = (): Dialect => stream.format()?.dialect ?? votes.detection().dialect;
  const settle = (): Checker => {
    const settled = checker(dialect(), held, stream.format() !== null);
    settled.add(early);
    early = [];
    return settled;
  };
  let messages = 0;
  onMessages(messages);
  const add = (pieces: readonly ImportPiece[]): void => {
    for (const piece of pieces) {
      if (piece.kind !== "message") continue;
      votes.add(piece.message.value);
      messages += 1;
    }
    onMessages(messages);
    if (check !== null) check.add(pieces);
    else {
      for (const piece of pieces) early.push(piece);
      // The first messages say which dialect it is; were they wrong, the file is read again.
      if (pieces.some(({ kind }) => kind === "message")) check = settle();
    }
  };
  for await (const pieces of streamed(source, stream, onBytes, (chunk) => digest.update(chunk))) add(pieces);
  const ending = { source, stream, digest: digest.digest("hex") };
  const first = check ?? settle();
  if (first.dialect === dialect()) return first.result(ending);
  const second = checker(dialect(), held, stream.format() !== null);
  for await (const pieces of streamed(source, pieceStream(undefined, source.mostOfValue), onBytes)) second.add(pieces);
  return second.result(ending);
}

/** Bytes that are parsed without a pause. */
const PORTION = 64 * 1024;

interface FileEnding {
  readonly source: ByteSource;
  readonly stream: PieceStream;
  readonly digest: string;
}

type Checker = ReturnType<typeof checker>;

interface Tally {
  readonly opened: ImportedThread;
  readonly gather: Gatherer;
  readonly called: Set<string>;
  messages: number;
}

/** `isFormat`: its messages are made by a format; other ones may be of another dialect than it seems. */
function checker(dialect: Dialect, held: number, isFormat: boolean) {
  const omitted: Omissions = omissions();
  const tallies = new Map<string, Tally>();
  const invalid: Problem[] = [];
  const depths = forkDepths(invalid);
  const warnings: Problem[] = [];
  let kept: ImportPiece[] | null = [];
  let keptLength = 0;
  const count = (tally: Tally, pieces: readonly ThreadPiece[]): void => {
    for (const piece of pieces) {
      if (piece.kind !== "message") continue;
      tally.messages += 1;
      if (warnings.length < NAMED) warnings.push(...strayResults([piece.message], dialect, tally.called));
    }
  };
  const take = (piece: ImportPiece): void => {
    omitted.add(piece);
    if (piece.kind === "thread") {
      // A copy for each of many forks would be as large as all before them.
      const shared = piece.fork && tallies.get(piece.fork.of)?.called;
      const tally = { opened: piece, gather: gatherer(dialect), called: shared ?? new Set<string>(), messages: 0 };
      tallies.set(piece.key, tally);
    } else if (piece.kind === "message") {
      const problem = problemOf(piece.message, dialect, isFormat);
      if (problem === null) count(tallies.get(piece.key)!, tallies.get(piece.key)!.gather.add(piece));
      else if (invalid.length < NAMED) invalid.push({ place: piece.message.place, message: problem });
      keptLength += piece.message.body.length;
    } else if ("key" in piece && piece.kind !== "end") {
      count(tallies.get(piece.key)!, tallies.get(piece.key)!.gather.add(piece));
    }
  };
  return {
    dialect,
    add(pieces: readonly ImportPiece[]): void {
      for (const piece of pieces) {
        if (!depths.add(piece)) continue;
        take(piece);
        kept?.push(piece);
      }
      if (keptLength > held) kept = null;
    },
    result({ source, stream, digest }: FileEnding): Checked {
      for (const tally of tallies.values()) count(tally, tally.gather.end());
      const all = [...tallies.values()].map(({ opened, messages }) => ({ opened, messages }));
      const problems = [...omitted.problems(), ...invalid];
      const whole = kept;
      return {
        dialect,
        threads: all.filter(({ messages }) => messages > 0),
        skipped: omitted.skipped() + problems.length + all.filter(({ messages }) => messages === 0).length,
        invalid: problems,
        warnings: [...omitted.notes(), ...warnings],
        format: stream.format()?.name ?? null,
        seen: stream.seen(),
        holdsJson: stream.holdsJson(),
        digest,
        pieces: (onBytes) =>
          validPieces(
            whole === null ? streamed(source, pieceStream(undefined, source.mostOfValue), onBytes) : slicesOf(whole),
            (piece) =>
              depths.isTaken(piece) && (piece.kind !== "message" || !problemOf(piece.message, dialect, isFormat)),
          ),
      };
    },
  };
}

const NAMED = 1000;

/** To read a fork of forks, each of them is read: a file must not make that arbitrarily long. */
const MAX_FORK_DEPTH = 200;
const TOO_DEEP = `a fork of forks that are nested more than ${MAX_FORK_DEPTH} deep`;

function forkDepths(invalid: Problem[]) {
  const depths = new Map<string, number>();
  const isTaken = (piece: ImportPiece): boolean => !("key" in piece) || (depths.get(piece.key) ?? 0) <= MAX_FORK_DEPTH;
  return {
    isTaken,
    /** To be called with each piece; whether it is taken. */
    add(piece: ImportPiece): boolean {
      if (piece.kind !== "thread") return isTaken(piece);
      depths.set(piece.key, piece.fork === null ? 0 : (depths.get(piece.fork.of) ?? 0) + 1);
      if (isTaken(piece)) return true;
      if (invalid.length < NAMED) invalid.push({ place: piece.place, message: TOO_DEEP });
      return false;
    },
  };
}

async function* validPieces(
  batches: AsyncIterable<readonly ImportPiece[]> | Iterable<readonly ImportPiece[]>,
  isValid: (piece: ImportPiece) => boolean,
): AsyncGenerator<readonly ImportPiece[]> {
  for await (const pieces of batches) yield pieces.filter(isValid);
}

/** Pieces that are handled without a pause. */
const SLICE = 1000;

function* slicesOf(pieces: Iterable<ImportPiece>): Generator<readonly ImportPiece[]> {
  let slice: ImportPiece[] = [];
  for (const piece of pieces) {
    slice.push(piece);
    if (slice.length < SLICE) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}

/** What a newer version of a program adds to its messages is carried along. */
function problemOf({ body, value }: ImportedMessage, dialect: Dialect, isFormat: boolean): string | null {
  return nestingProblem(body) ?? messageProblem(value, dialect, isFormat ? "carry" : "name");
}

async function* streamed(
  source: ByteSource,
  stream: PieceStream,
  onBytes: OnBytes,
  onChunk?: (chunk: Buffer) => void,
): AsyncGenerator<readonly ImportPiece[]> {
  let bytes = 0;
  for await (const chunk of source.chunks()) {
    onChunk?.(chunk);
    for (let at = 0; at < chunk.length; at += PORTION) {
      const portion = chunk.subarray(at, at + PORTION);
      bytes += portion.length;
      for (const pieces of slicesOf(stream.push(portion))) {
        yield pieces;
        await onBytes(bytes);
      }
      await onBytes(bytes);
    }
  }
  for (const pieces of slicesOf(stream.end())) {
    yield pieces;
    await onBytes(bytes);
  }
}
