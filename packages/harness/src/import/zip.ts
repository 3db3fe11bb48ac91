/**
 * The files in a zip archive on the disk or in memory, each read while it is unpacked: only the list of names is held.
 * Wraps yauzl. An entry that gives more bytes than the list says is refused, so that the sizes of the list can be
 * relied on.
 */
import { open, stat } from "node:fs/promises";
import { errorText } from "@palimpsest/core/internal/text";
import { type Entry, fromBufferPromise, openPromise, type ZipFile } from "yauzl";
import type { ByteSource } from "./byte-source.ts";

export interface ZipEntry extends ByteSource {
  /** Why it can't be read, if so. */
  readonly problem: string | null;
}

export interface Archive {
  readonly name: string;
  /** Null if it is the file of this name. */
  readonly bytes: Buffer | null;
}

export async function isZip(path: string): Promise<boolean> {
  try {
    // To open a pipe would wait for its writer.
    if ((await stat(path)).isFIFO()) return false;
    const file = await open(path);
    try {
      return beginsZip((await file.read(Buffer.alloc(4), 0, 4, 0)).buffer);
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}

export function beginsZip(bytes: Buffer): boolean {
  return bytes.length >= 4 && bytes.readUInt32LE(0) === LOCAL_FILE;
}

const LOCAL_FILE = 0x04034b50;

/** Or what is wrong with the archive. */
export async function zipEntries(
  archive: Archive,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly ZipEntry[] | string> {
  try {
    const entries: ZipEntry[] = [];
    const file = await openArchive(archive);
    try {
      for await (const entry of file.eachEntry()) {
        if (entries.length >= most) return `${archive.name} is a zip archive of more than ${most} files`;
        entries.push(entryOf(archive, entry));
      }
    } finally {
      file.close();
    }
    return entries;
  } catch (error) {
    const reason = errorText(error);
    return /end of central directory/i.test(reason)
      ? `${archive.name} is a zip archive without its list of files: is it truncated?`
      : `${archive.name} is a damaged zip archive: ${reason}`;
  }
}

function entryOf(archive: Archive, entry: Entry): ZipEntry {
  return {
    name: entry.fileNameRaw.toString("utf8"),
    size: entry.uncompressedSize,
    problem: entry.isEncrypted()
      ? "it is encrypted"
      : entry.canDecodeFileData()
        ? null
        : `it is packed by method ${entry.compressionMethod}`,
    chunks: () => unpacked(archive, entry),
  };
}

async function* unpacked(archive: Archive, entry: Entry): AsyncGenerator<Buffer> {
  const file = await openArchive(archive);
  try {
    const stream = await file.openReadStreamPromise(entry);
    for await (const chunk of stream as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw new Error(`the archive is damaged: ${errorText(error)}`, { cause: error });
  } finally {
    file.close();
  }
}

function openArchive({ name, bytes }: Archive): Promise<ZipFile> {
  // Names only become ids, so one with `..` in it is no reason to refuse the archive.
  const options = { decodeStrings: false, autoClose: false };
  return bytes === null ? openPromise(name, options) : fromBufferPromise(bytes, options);
}
