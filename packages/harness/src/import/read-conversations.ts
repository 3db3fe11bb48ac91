/**
 * Reads a file's bytes into conversations without writing anything: one JSON array, an object that holds messages, JSON
 * lines, or what an app exports (`formats`). Every bad line is reported, with its place; lines that are JSON but hold no
 * message are counted as skipped. Holds all of it: what is written into a store comes in pieces (`import-file.ts`).
 */
import type { ImportedConversation, ImportedMessage, Problem } from "./conversation.ts";
import { omissions } from "./omissions.ts";
import type { ImportedThread, ImportPiece } from "./piece.ts";
import { pieceStream } from "./piece-stream.ts";

export interface Reading {
  /** Each branch of a conversation is one of them, with what it shares. */
  readonly conversations: readonly ImportedConversation[];
  readonly skipped: number;
  readonly problems: readonly Problem[];
  /** What a format left out of the conversations it read. */
  readonly notes: readonly Problem[];
  /** Whose file it is, where that is more than a list of messages: `ChatGPT export`. */
  readonly format: string | null;
  /** What the file has and what could be read, for somebody in whose file nothing was found. */
  readonly seen: string;
}

export interface ReadingOptions {
  /** Called every few megabytes with the bytes read so far; awaited, so that the caller can stay responsive. */
  readonly onProgress?: (bytes: number) => Promise<void>;
}

export async function readConversations(file: Buffer, options: ReadingOptions = {}): Promise<Reading> {
  const stream = pieceStream();
  const collected = collector();
  for (let start = 0; start < file.length; start += STEP) {
    collected.add(stream.push(file.subarray(start, start + STEP)));
    if (start > 0) await options.onProgress?.(start);
  }
  collected.add(stream.end());
  const { skipped, problems, notes } = collected.omitted;
  return {
    conversations: collected.conversations(),
    skipped: skipped(),
    problems: problems(),
    notes: notes(),
    format: stream.format()?.name ?? null,
    seen: stream.seen(),
  };
}

const STEP = 4 * 1024 * 1024;

interface OpenConversationFile {
  readonly thread: ImportedThread;
  readonly messages: ImportedMessage[];
  readonly marks: { readonly after: number; readonly summary: string }[];
  title: string | null;
}

function collector() {
  const threads = new Map<string, OpenConversationFile>();
  const omitted = omissions();
  const add = (pieces: Iterable<ImportPiece>): void => {
    for (const piece of pieces) {
      omitted.add(piece);
      if (piece.kind === "thread") {
        const shared = piece.fork === null ? [] : threads.get(piece.fork.of)!.messages.slice(0, piece.fork.after);
        threads.set(piece.key, { thread: piece, messages: [...shared], marks: [], title: piece.title });
      } else if ("key" in piece) {
        const { messages, ...open } = threads.get(piece.key)!;
        if (piece.kind === "message") messages.push(piece.message);
        else if (piece.kind === "mark") {
          const { summary } = piece.event;
          const last = open.marks.at(-1);
          const text = typeof summary === "string" ? summary : "";
          // A program may say in one line that it compacts, and in the next what it shows instead.
          if (last?.after === messages.length) open.marks.pop();
          open.marks.push({
            after: messages.length,
            summary: text === "" && last?.after === messages.length ? last.summary : text,
          });
        } else if (piece.kind === "title") threads.set(piece.key, { ...open, messages, title: piece.title });
        else if (piece.kind === "usage" && messages.length > 0) {
          const { usage, model } = piece;
          messages.push({ ...messages.pop()!, usage, ...(model !== null && { model }) });
        }
      }
    }
  };
  const conversations = () =>
    [...threads.values()].map(({ thread, messages, marks, title }): ImportedConversation => {
      const { place, request, questions, fork, source } = thread;
      const about = { place, title, source, request, questions };
      return { ...about, messages, marks, shared: fork?.after ?? null };
    });
  return { add, omitted, conversations };
}
