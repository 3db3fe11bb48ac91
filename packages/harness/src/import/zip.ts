/**
 * The files in a zip archive on the disk or in memory, each read while it is unpacked: nothing is held but the list of names.
 * Knows what exports use: stored and deflated files, and sizes of over 4 GB. An entry that gives more bytes than it says is
 * refused, so that the sizes of the list can be relied on.
 */
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { createInflateRaw } from "node:zlib";
import type { ByteSource } from "./byte-source.ts";

export interface ZipEntry extends ByteSource {
  /** Why it can't be read, if so. */
  readonly problem: string | null;
}

/** Where the bytes of an archive are. */
export interface Archive {
  readonly name: string;
  size(): Promise<number>;
  read(position: number, length: number): Promise<Buffer>;
  stream(start: number, length: number): Readable;
}

export function archiveFile(path: string): Archive {
  return {
    name: path,
    size: async () => (await stat(path)).size,
    async read(position, length) {
      const file = await open(path);
      try {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
        return buffer.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },
    stream: (start, length) => createReadStream(path, { start, end: start + length - 1, highWaterMark: STEP }),
  };
}

export function archiveBytes(name: string, bytes: Buffer): Archive {
  const piece = (start: number, length: number) => bytes.subarray(start, start + length);
  return {
    name,
    size: async () => bytes.length,
    read: async (position, length) => piece(position, length),
    stream: (start, length) => Readable.from([piece(start, length)]),
  };
}

export async function isZip(path: string): Promise<boolean> {
  // To open a pipe would wait for its writer.
  if ((await stat(path).catch(() => null))?.isFIFO() === true) return false;
  const beginning = await archiveFile(path)
    .read(0, 4)
    .catch(() => null);
  return beginning !== null && beginsZip(beginning);
}

export function beginsZip(bytes: Buffer): boolean {
  return bytes.length >= 4 && bytes.readUInt32LE(0) === LOCAL;
}

/** Or what is wrong with the archive. */
export async function zipEntries(
  archive: Archive,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly ZipEntry[] | string> {
  const directory = await directoryOf(archive);
  if (directory === null) return `${archive.name} is a zip archive without its list of files: is it truncated?`;
  const entries: ZipEntry[] = [];
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === CENTRAL; ) {
    if (entries.length >= most) return `${archive.name} is a zip archive of more than ${most} files`;
    const lengths = [28, 30, 32].map((offset) => directory.readUInt16LE(at + offset));
    const [name = 0, extra = 0, comment = 0] = lengths;
    entries.push(entryOf(archive, directory.subarray(at, at + 46 + name + extra), name));
    at += 46 + name + extra + comment;
  }
  return entries;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const FULL_32 = 0xffffffff;
const FULL_16 = 0xffff;

/** The archive's list of files stands before its end, which a comment may follow. */
async function directoryOf(archive: Archive): Promise<Buffer | null> {
  const size = await archive.size();
  const tail = await archive.read(Math.max(0, size - 66_000), Math.min(size, 66_000));
  for (let at = tail.length - 22; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END) continue;
    let [length, offset] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
    const isLarge = offset === FULL_32 || length === FULL_32 || tail.readUInt16LE(at + 10) === FULL_16;
    if (isLarge && at >= 20 && tail.readUInt32LE(at - 20) === LOCATOR_64) {
      const end = await archive.read(Number(tail.readBigUInt64LE(at - 12)), 56);
      if (end.length < 56 || end.readUInt32LE(0) !== END_64) return null;
      [length, offset] = [Number(end.readBigUInt64LE(40)), Number(end.readBigUInt64LE(48))];
    }
    const directory = await archive.read(offset, Math.min(length, MOST_NAMES));
    return directory.length === length ? directory : null;
  }
  return null;
}

/** Of names: no archive that somebody reads has more. */
const MOST_NAMES = 256 * 1024 * 1024;

function entryOf(archive: Archive, header: Buffer, nameLength: number): ZipEntry {
  const [flags, method] = [header.readUInt16LE(8), header.readUInt16LE(10)];
  const sizes = [header.readUInt32LE(24), header.readUInt32LE(20), header.readUInt32LE(42)];
  const [size = 0, packed = 0, offset = 0] = largeSizes(sizes, header.subarray(46 + nameLength));
  const isEncrypted = (flags & 1) === 1;
  const isKnown = method === 0 || method === 8;
  return {
    name: header.toString("utf8", 46, 46 + nameLength),
    size,
    problem: isEncrypted ? "it is encrypted" : isKnown ? null : `it is packed by method ${method}`,
    chunks: () => unpacked(archive, { size, packed, offset, method }),
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

async function* unpacked(archive: Archive, { size, packed, offset, method }: Packed): AsyncGenerator<Buffer> {
  const header = await archive.read(offset, 30);
  if (header.length < 30 || header.readUInt32LE(0) !== LOCAL) throw new Error("the archive is damaged");
  const start = offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (packed === 0) return;
  const bytes = archive.stream(start, packed);
  const inflate = method === 0 ? bytes : bytes.pipe(createInflateRaw({ chunkSize: STEP }));
  bytes.on("error", (error) => inflate.destroy(error));
  let given = 0;
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer>) {
      given += chunk.length;
      if (given > size) throw new Error("the archive is damaged: a file has more bytes than its list says");
      yield chunk;
    }
  } finally {
    bytes.destroy();
  }
}

const STEP = 1024 * 1024;
