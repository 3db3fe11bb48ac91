/**
 * Brings a file's threads up to date with what another program has written since. The log is the truth: each commit holds
 * messages together with how far the file was read for them, so that a second run, or one after a kill, goes on right
 * there. Where the file no longer says what was read of it, what it says now becomes a fork.
 */

import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { type Dialect, dialectVotes } from "@palimpsest/core/internal/message";
import { threadState } from "../../thread/thread-view.ts";
import type { Problem } from "../conversation.ts";
import type { Format } from "../formats/format.ts";
import { type Omissions, omissions } from "../omissions.ts";
import type { ImportPiece } from "../piece.ts";
import { type PieceStream, pieceStream } from "../piece-stream.ts";
import { messageProblem, nestingProblem } from "../validate.ts";
import { type Detour, type SyncedThreads, type SyncOptions, syncedThreads } from "./synced-threads.ts";
import { threadNames } from "./thread-names.ts";

export interface SyncedFile {
  /** Messages that were new. */
  readonly messages: number;
  /** Threads that something was added to. */
  readonly threads: readonly string[];
  /** `busy`: somebody else writes to one of its threads; the next run goes on. */
  readonly kind: "synced" | "unchanged" | "busy";
  readonly notes: readonly Problem[];
}

export interface FileFacts {
  readonly path: string;
  /** Its path in the folder. */
  readonly name: string;
  readonly size: number;
  /** In milliseconds. */
  readonly modified: number;
}

export async function syncFile(file: FileFacts, options: SyncOptions): Promise<SyncedFile> {
  if (await isUnchanged(file, options)) return { kind: "unchanged", messages: 0, threads: [], notes: [] };
  const detours = new Map<string, Detour>();
  for (;;) {
    const omitted = omissions();
    const threads = syncedThreads(file, options, detours);
    const stream = pieceStream(options.format ?? undefined);
    await read(file, options, { stream, threads, omitted });
    const { diverged, ...synced } = await threads.finish(isSettled(file, options));
    if (diverged.size === 0) return { ...synced, notes: [...omitted.problems(), ...omitted.notes()] };
    for (const [key, detour] of diverged) detours.set(key, detour);
  }
}

/** After this long without a change, what a program may hold together is taken to be whole. */
const SETTLED_MS = 60_000;

export const isSettled = ({ modified }: FileFacts, { deps }: SyncOptions): boolean =>
  deps.clock().getTime() - modified > SETTLED_MS;

interface SyncReading {
  readonly stream: PieceStream;
  readonly threads: SyncedThreads;
  readonly omitted: Omissions;
}

async function read(file: FileFacts, options: SyncOptions, { stream, threads, omitted }: SyncReading): Promise<void> {
  const votes = dialectVotes();
  const take = async (pieces: readonly ImportPiece[]): Promise<void> => {
    for (const piece of pieces) if (piece.kind === "message") votes.add(piece.message.value);
    const format = stream.format();
    const dialect = format?.dialect ?? votes.detection().dialect;
    for (const piece of pieces) {
      const problem = problemOf(piece, dialect);
      omitted.add(problem ?? piece);
      const opening = problem === null ? threads.add(piece, { format, dialect }) : null;
      if (opening !== null) await opening;
    }
    await threads.makeRoom();
    options.signal?.throwIfAborted();
  };
  // What is written meanwhile is for the next time.
  if (file.size > 0)
    for await (const chunk of createReadStream(file.path, { end: file.size - 1, highWaterMark: STEP }))
      await take([...stream.push(chunk)]);
  await take([...stream.end(isSettled(file, options) ? "settled" : "wait")]);
}

const STEP = 1024 * 1024;

/** The problem of an unreadable message; null for any other piece. */
function problemOf(piece: ImportPiece, dialect: Dialect): Extract<ImportPiece, { readonly kind: "problem" }> | null {
  if (piece.kind !== "message") return null;
  const { body, value, place } = piece.message;
  const message = nestingProblem(body) ?? messageProblem(value, dialect, "carry");
  return message === null ? null : { kind: "problem", place, message };
}

/** The first thread of a file says how large the file was when all of it had been read. */
async function isUnchanged(file: FileFacts, { deps, format }: SyncOptions): Promise<boolean> {
  const first = await firstThread(file, format);
  const head = first === null ? undefined : await deps.store.head(first);
  const { size, modified } = (head && threadState(head).source) ?? {};
  return size === file.size && modified === file.modified;
}

/** Its name, where the beginning of the file says it. */
async function firstThread(file: FileFacts, format: Format | null): Promise<string | null> {
  const handle = await open(file.path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(PEEKED), 0, PEEKED, 0);
    const stream = pieceStream(format ?? undefined);
    const pieces = [...stream.push(buffer.subarray(0, bytesRead)), ...stream.end("settled")];
    const opened = pieces.find(({ kind }) => kind === "thread");
    return opened?.kind === "thread" ? threadNames(file.name, stream.format())(opened) : null;
  } finally {
    await handle.close();
  }
}

const PEEKED = 64 * 1024;
