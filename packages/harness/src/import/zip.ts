/**
 * The files in a zip archive, each read while it is unpacked: nothing is held but the list of names. Knows what exports
 * use: stored and deflated files, and sizes of over 4 GB. An entry that gives more bytes than it says is refused.
 */
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createInflateRaw } from "node:zlib";
import type { ByteSource } from "./byte-source.ts";

export interface ZipEntry extends ByteSource {
  /** Why it can't be read, if so. */
  readonly problem: string | null;
}

export async function isZip(path: string): Promise<boolean> {
  const file = await open(path).catch(() => null);
  if (file === null) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return bytesRead === 4 && buffer.readUInt32LE(0) === LOCAL;
  } catch {
    return false;
  } finally {
    await file.close();
  }
}

/** Or what is wrong with the archive. */
export async function zipEntries(path: string): Promise<readonly ZipEntry[] | string> {
  const file = await open(path);
  try {
    const directory = await directoryOf(file);
    if (directory === null) return `${path} is a zip archive without its list of files: is it truncated?`;
    const entries: ZipEntry[] = [];
    for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === CENTRAL; ) {
      const lengths = [28, 30, 32].map((offset) => directory.readUInt16LE(at + offset));
      const [name = 0, extra = 0, comment = 0] = lengths;
      entries.push(entryOf(path, directory.subarray(at, at + 46 + name + extra), name));
      at += 46 + name + extra + comment;
    }
    return entries;
  } finally {
    await file.close();
  }
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const FULL_32 = 0xffffffff;
const FULL_16 = 0xffff;

/** The archive's list of files stands before its end, which a comment may follow. */
async function directoryOf(file: FileHandle): Promise<Buffer | null> {
  const { size } = await file.stat();
  const tail = await readAt(file, Math.max(0, size - 66_000), Math.min(size, 66_000));
  for (let at = tail.length - 22; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END) continue;
    let [length, offset] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
    const isLarge = offset === FULL_32 || length === FULL_32 || tail.readUInt16LE(at + 10) === FULL_16;
    if (isLarge && at >= 20 && tail.readUInt32LE(at - 20) === LOCATOR_64) {
      const end = await readAt(file, Number(tail.readBigUInt64LE(at - 12)), 56);
      if (end.length < 56 || end.readUInt32LE(0) !== END_64) return null;
      [length, offset] = [Number(end.readBigUInt64LE(40)), Number(end.readBigUInt64LE(48))];
    }
    const directory = await readAt(file, offset, Math.min(length, MOST_NAMES));
    return directory.length === length ? directory : null;
  }
  return null;
}

/** Of names: no archive that somebody reads has more. */
const MOST_NAMES = 256 * 1024 * 1024;

function entryOf(path: string, header: Buffer, nameLength: number): ZipEntry {
  const [flags, method] = [header.readUInt16LE(8), header.readUInt16LE(10)];
  const sizes = [header.readUInt32LE(24), header.readUInt32LE(20), header.readUInt32LE(42)];
  const [size = 0, packed = 0, offset = 0] = largeSizes(sizes, header.subarray(46 + nameLength));
  const isEncrypted = (flags & 1) === 1;
  const isKnown = method === 0 || method === 8;
  return {
    name: header.toString("utf8", 46, 46 + nameLength),
    size,
    problem: isEncrypted ? "it is encrypted" : isKnown ? null : `it is packed by method ${method}`,
    chunks: () => unpacked(path, { size, packed, offset, method }),
  };
}

/** What doesn't fit into 32 bits stands in an extra field, in this order. */
function largeSizes(sizes: readonly number[], extra: Buffer): readonly number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let from = at + 4;
    return sizes.map((size) => {
      if (size !== FULL_32 || from + 8 > extra.length) return size;
      from += 8;
      return Number(extra.readBigUInt64LE(from - 8));
    });
  }
  return sizes;
}

interface Packed {
  readonly size: number;
  readonly packed: number;
  readonly offset: number;
  readonly method: number;
}

async function* unpacked(path: string, { size, packed, offset, method }: Packed): AsyncGenerator<Buffer> {
  const file = await open(path);
  const header = await readAt(file, offset, 30).finally(() => file.close());
  if (header.length < 30 || header.readUInt32LE(0) !== LOCAL) throw new Error("the archive is damaged");
  const start = offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (packed === 0) return;
  const bytes = createReadStream(path, { start, end: start + packed - 1, highWaterMark: STEP });
  const inflate = method === 0 ? bytes : bytes.pipe(createInflateRaw({ chunkSize: STEP }));
  bytes.on("error", (error) => inflate.destroy(error));
  let given = 0;
  for await (const chunk of inflate as AsyncIterable<Buffer>) {
    given += chunk.length;
    if (given > size) throw new Error("the archive is damaged: a file has more bytes than its list says");
    yield chunk;
  }
}

const STEP = 1024 * 1024;

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
