/**
 * The hidden originals as files of the thread's workspace, one per live compaction, so that the agent's file tools can
 * read them. A cache of the log: written after the record, removed when its compaction is undone, rebuilt at any time.
 */
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { storedSummary } from "@palimpsest/core/internal/compaction";
import { parseHeader, type Range, type RecordHeader, type ThreadName } from "@palimpsest/core/internal/log";
import { LEDGER_FILE, ledgerText, type Originals, RECALL, type SummaryState } from "@palimpsest/core/internal/summary";
import { PRIVATE_FOLDER, READ_ONLY_FILE, threadFolder } from "../home-folders.ts";
import type { Store } from "../stores/store.ts";
import { HISTORY, partName, stateChainOf } from "./state-chain.ts";

/** What an assistant with its own home has to read hidden messages: the part files and the recall tools. */
export const homeOriginals: Originals = { ...RECALL, folder: `${HISTORY}/` };

/** The folder of a thread's part files. */
export function historyFolder(home: string, thread: ThreadName): string {
  return join(threadFolder(home, thread), HISTORY);
}

/**
 * Makes the folder hold exactly the parts of the live compactions, and the ledger of the newest; returns how many parts
 * had to be written.
 */
export async function ensureParts(
  folder: string,
  store: Store,
  threadId: string,
  live: number | null,
): Promise<number> {
  const chain = await liveChain(store, threadId, live);
  const expected = new Map(chain.map(({ covers }) => [partName(covers), covers]));
  const present = new Set(await readdir(folder).catch(() => [] as string[]));
  const stale = [...present].filter((name) => !expected.has(name) && name !== LEDGER_FILE);
  for (const name of stale) await rm(join(folder, name), { force: true, recursive: true });
  let written = 0;
  for (const [name, covers] of expected) {
    if (present.has(name)) continue;
    await writeWhole(folder, name, bodies(store, threadId, covers));
    written++;
  }
  if (written + stale.length > 0 || (chain.length > 0 && !present.has(LEDGER_FILE))) {
    await writeLedger(folder, storedSummary(await stateOf(store, threadId, live)));
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
  threadId: string,
  live: number | null,
): Promise<readonly PartFault[]> {
  const chain = await liveChain(store, threadId, live);
  const expected = new Map(chain.map(({ covers }) => [partName(covers), covers]));
  const present = await readdir(folder).catch(() => [] as string[]);
  const faults: PartFault[] = present
    .filter((name) => !expected.has(name) && name !== LEDGER_FILE)
    .map((name) => ({ name, fault: "stray" as const }));
  for (const [name, covers] of expected) {
    if (!present.includes(name)) faults.push({ name, fault: "missing" });
    else if (!(await holds(join(folder, name), bodies(store, threadId, covers))))
      faults.push({ name, fault: "different" });
  }
  for (const { name, fault } of faults)
    if (fault !== "missing") await rm(join(folder, name), { force: true, recursive: true });
  // The ledger quotes the newest summary, which a redaction rewrites: it is always made anew.
  await rm(join(folder, LEDGER_FILE), { force: true });
  await ensureParts(folder, store, threadId, live);
  return faults;
}

/** Whether a file is exactly these lines. */
async function holds(path: string, lines: AsyncIterable<string>): Promise<boolean> {
  const file = await open(path, "r");
  try {
    for await (const line of lines) {
      const expected = Buffer.from(`${line}\n`);
      const bytes = Buffer.alloc(expected.length);
      const { bytesRead } = await file.read(bytes, 0, expected.length);
      if (bytesRead < expected.length || !bytes.equals(expected)) return false;
    }
    return (await file.read(Buffer.alloc(1), 0, 1)).bytesRead === 0;
  } finally {
    await file.close();
  }
}

type CompactionHeader = Extract<RecordHeader, { kind: "compaction" }>;

/** The compactions that the live one folds, oldest first, and itself. */
async function liveChain(store: Store, threadId: string, live: number | null): Promise<CompactionHeader[]> {
  const compactions = new Map<number, CompactionHeader>();
  if (live === null) return [];
  for await (const { chained } of store.records(threadId, {
    kinds: ["compaction"],
    range: [1, live],
    bodies: "none",
  })) {
    const header = parseHeader(chained);
    if (header.kind === "compaction") compactions.set(header.seq, header);
  }
  const chain: CompactionHeader[] = [];
  for (let next = compactions.get(live); next !== undefined; next = compactions.get(next.folds ?? -1))
    chain.unshift(next);
  return chain;
}

async function stateOf(store: Store, threadId: string, live: number | null): Promise<unknown> {
  if (live === null) return null;
  for await (const { record } of store.records(threadId, { range: [live, live], kinds: ["compaction"] }))
    if (record.kind === "compaction") return (await stateChainOf(store, threadId, record))?.state ?? null;
  return null;
}

async function writeLedger(folder: string, summary: SummaryState | null): Promise<void> {
  if (summary === null) return rm(join(folder, LEDGER_FILE), { force: true });
  await writeWhole(folder, LEDGER_FILE, [ledgerText(summary.ledger)]);
}

async function* bodies(store: Store, threadId: string, range: Range): AsyncGenerator<string> {
  for await (const { record } of store.records(threadId, { range, kinds: ["message"] })) {
    if (record.kind === "message") yield record.body;
  }
}

/** Whole or not at all: a reader never sees half a part. */
async function writeWhole(
  folder: string,
  name: string,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  const temporary = join(folder, `.${name}.tmp`);
  // One that a killed process left may not be written to.
  await rm(temporary, { force: true });
  const file = await open(temporary, "wx", READ_ONLY_FILE);
  try {
    for await (const line of lines) await file.write(`${line}\n`);
  } finally {
    await file.close();
  }
  await rename(temporary, join(folder, name));
}
