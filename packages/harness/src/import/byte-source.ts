/** Where a file's bytes come from: the disk, memory, or an archive. They can be read any number of times. */
import { createReadStream } from "node:fs";
import { open, stat as statOf } from "node:fs/promises";
import type { ValueLimit } from "./value-splitter.ts";

export interface ByteSource {
  /** For people, and for the receipt. */
  readonly name: string;
  readonly size: number;
  /** Where one value in it may be no longer than this. */
  readonly mostOfValue?: ValueLimit | undefined;
  chunks(): AsyncIterable<Buffer>;
}

export function bytesSource(name: string, bytes: Buffer): ByteSource {
  return {
    name,
    size: bytes.length,
    async *chunks() {
      for (let start = 0; start < bytes.length; start += STEP) yield bytes.subarray(start, start + STEP);
    },
  };
}

/** Or what is wrong with the path. */
export async function fileSource(path: string): Promise<ByteSource | string> {
  try {
    // To open a pipe would wait for its writer, perhaps without end, and a file is read more than once.
    if ((await statOf(path)).isFIFO()) return `${path} is a pipe: write its content into a file first`;
    const file = await open(path);
    try {
      const stat = await file.stat();
      if (stat.isDirectory()) return `${path} is a directory: importFolder reads it`;
      if (stat.size === 0 && stat.isFile()) return `${path} is empty`;
      return { name: path, size: stat.size, chunks: () => createReadStream(path, { highWaterMark: STEP }) };
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return `${path} does not exist`;
    if (code === "EACCES" || code === "EPERM") return `${path} may not be read: check its permissions`;
    return `${path} can't be read: ${message}`;
  }
}

const STEP = 1024 * 1024;
