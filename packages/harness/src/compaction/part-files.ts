/**
 * The hidden originals as files of the thread's workspace, one per live compaction, so that the agent's file tools can
 * read them. A cache of the log: written after the record, removed when its compaction is undone, rebuilt at any time.
 */
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { CompactionRecord, Range } from "@palimpsest/core/log";
import type { Store } from "../stores/store.ts";

export const HISTORY = "history";

/** Names sort in the order of what they hold. */
function partName([first, last]: Range): string {
  const pad = (seq: number): string => String(seq).padStart(10, "0");
  return `part-${pad(first)}-${pad(last)}.jsonl`;
}

/** Relative to the thread's workspace, as records and outcomes name it. */
export function archivePath(covers: Range): string {
  return `${HISTORY}/${partName(covers)}`;
}

/** Makes the folder hold exactly the parts of the live compactions; returns how many had to be written. */
export async function ensureParts(folder: string, store: Store, thread: string, live: number | null): Promise<number> {
  const expected = new Map((await liveCovers(store, thread, live)).map((covers) => [partName(covers), covers]));
  const present = new Set(await readdir(folder).catch(() => [] as string[]));
  for (const name of present) if (!expected.has(name)) await rm(join(folder, name), { force: true, recursive: true });
  let written = 0;
  for (const [name, covers] of expected) {
    if (present.has(name)) continue;
    await writePart(folder, name, bodies(store, thread, covers));
    written++;
  }
  return written;
}

export interface PartFault {
  readonly name: string;
  readonly fault: "missing" | "different" | "stray";
}

/** Like `ensureParts`, but reads every part and holds it against the log: after a redaction, and when in doubt. */
export async function repairParts(
  folder: string,
  store: Store,
  thread: string,
  live: number | null,
): Promise<readonly PartFault[]> {
  const expected = new Map((await liveCovers(store, thread, live)).map((covers) => [partName(covers), covers]));
  const present = await readdir(folder).catch(() => [] as string[]);
  const faults: PartFault[] = present
    .filter((name) => !expected.has(name))
    .map((name) => ({ name, fault: "stray" as const }));
  for (const [name, covers] of expected) {
    if (!present.includes(name)) faults.push({ name, fault: "missing" });
    else if (!(await holds(join(folder, name), bodies(store, thread, covers))))
      faults.push({ name, fault: "different" });
  }
  for (const { name, fault } of faults)
    if (fault !== "missing") await rm(join(folder, name), { force: true, recursive: true });
  await ensureParts(folder, store, thread, live);
  return faults;
}

/** Whether a file is exactly these lines. */
async function holds(path: string, lines: AsyncIterable<string>): Promise<boolean> {
  const file = await open(path, "r");
  try {
    for await (const line of lines) {
      const wanted = Buffer.from(`${line}\n`);
      const found = Buffer.alloc(wanted.length);
      const { bytesRead } = await file.read(found, 0, wanted.length);
      if (bytesRead < wanted.length || !found.equals(wanted)) return false;
    }
    return (await file.read(Buffer.alloc(1), 0, 1)).bytesRead === 0;
  } finally {
    await file.close();
  }
}

/** The chain of compactions that the live one folds, oldest first. */
async function liveCovers(store: Store, thread: string, live: number | null): Promise<Range[]> {
  const compactions = new Map<number, CompactionRecord>();
  if (live === null) return [];
  for await (const { record } of store.records(thread, { kinds: ["compaction"], range: [1, live] })) {
    if (record.kind === "compaction") compactions.set(record.seq, record);
  }
  const covers: Range[] = [];
  for (let next = compactions.get(live); next !== undefined; next = compactions.get(next.folds ?? -1)) {
    covers.unshift(next.covers);
  }
  return covers;
}

async function* bodies(store: Store, thread: string, range: Range): AsyncGenerator<string> {
  for await (const { record } of store.records(thread, { range, kinds: ["message"] })) {
    if (record.kind === "message") yield record.body;
  }
}

/** Whole or not at all: a reader never sees half a part. */
async function writePart(folder: string, name: string, lines: AsyncIterable<string>): Promise<void> {
  await mkdir(folder, { recursive: true });
  const temporary = join(folder, `.${name}.tmp`);
  const file = await open(temporary, "w", 0o444);
  try {
    for await (const line of lines) await file.write(`${line}\n`);
  } finally {
    await file.close();
  }
  await rename(temporary, join(folder, name));
}
