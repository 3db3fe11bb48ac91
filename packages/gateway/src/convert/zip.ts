/**
 * Reads files out of a zip archive in memory. Names are keys, never paths; what is taken out is bounded, however small it
 * was packed.
 */
import { inflateRawSync } from "node:zlib";

export interface Zip {
  readonly names: readonly string[];
  /** The file's text; empty for one that isn't there. */
  text(name: string): string;
  unpack(name: string): Buffer | null;
}

/** Throws if the archive is none, or unpacks to more than is read here. For libraries that have no such limit. */
export function assertUnpacks(bytes: Buffer): void {
  const zip = readZip(bytes);
  for (const name of zip.names) zip.unpack(name);
}

/** Most that one archive may unpack to, in bytes. */
const MOST = 128 << 20;
const MOST_ENTRIES = 20_000;

export function readZip(bytes: Buffer): Zip {
  const entries = centralDirectory(bytes);
  let room = MOST;
  const take = (name: string): Buffer | null => {
    const entry = entries.get(name);
    if (entry === undefined) return null;
    const content = unpack(bytes, entry, room);
    room -= content.length;
    return content;
  };
  return { names: [...entries.keys()], unpack: take, text: (name) => take(name)?.toString("utf8") ?? "" };
}

interface OfficeZipEntry {
  readonly method: number;
  readonly packed: number;
  readonly at: number;
}

function centralDirectory(bytes: Buffer): ReadonlyMap<string, OfficeZipEntry> {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end === -1 || end + 22 > bytes.length) throw new Error("it is no zip archive");
  const count = Math.min(bytes.readUInt16LE(end + 10), MOST_ENTRIES);
  const entries = new Map<string, OfficeZipEntry>();
  for (let index = 0, at = bytes.readUInt32LE(end + 16); index < count; index += 1) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== 0x02014b50)
      throw new Error("its list of files is damaged");
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    entries.set(bytes.toString("utf8", at + 46, at + 46 + nameLength), {
      method: bytes.readUInt16LE(at + 10),
      packed: bytes.readUInt32LE(at + 20),
      at: bytes.readUInt32LE(at + 42),
    });
    at += 46 + nameLength + extra + comment;
  }
  return entries;
}

function unpack(bytes: Buffer, { method, packed, at }: OfficeZipEntry, room: number): Buffer {
  if (at + 30 > bytes.length || bytes.readUInt32LE(at) !== 0x04034b50) throw new Error("a file in it is damaged");
  const start = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
  const content = bytes.subarray(start, start + packed);
  if (method === 0 && content.length <= room) return content;
  if (method !== 8) throw new Error("a file in it is packed in a way that isn't known here");
  try {
    return inflateRawSync(content, { maxOutputLength: Math.max(1, room) });
  } catch {
    throw new Error("a file in it is damaged, or unpacks to more than is read here");
  }
}
