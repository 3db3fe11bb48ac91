/** What `doctor` says about memory: what is still to be learned, what was given up, and files that were set aside. */
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { MEMORY_QUEUE } from "../memory/job.ts";
import { type MemoryPlace, memoryPath } from "../memory/scope.ts";
import type { Store } from "../stores/store.ts";
import type { Check } from "./doctor.ts";

/** What memory has still to learn, and what it has given up on. */
export async function memoryJobCheck(store: Pick<Store, "outbox">): Promise<Check> {
  if (store.outbox === undefined)
    return { name: "memory jobs", ok: true, detail: "this store has no outbox: nothing is learned from turns" };
  const jobs = await store.outbox.list(MEMORY_QUEUE);
  const dead = jobs.filter(({ state }) => state === "dead");
  const queued = `${jobs.length - dead.length} queued`;
  if (dead.length === 0) return { name: "memory jobs", ok: true, detail: queued };
  const named = dead.map(({ threadId, attempts, error }) => {
    return `${threadId} (${attempts} attempts: ${error ?? "its worker ended without a word"})`;
  });
  const advice = `nothing is lost: "palimpsest memory retry" tries again, and so does the thread's next turn`;
  return { name: "memory jobs", ok: false, detail: `${queued}; given up: ${some(named)}; ${advice}` };
}

/** Null where there is no file that could not be read. */
export function memoryFileCheck(place: MemoryPlace): Check | null {
  const aside = setAsideUnder(place);
  if (aside.length === 0) return null;
  const advice = "a memory that couldn't be read was moved there: repair it and move it back, or delete it";
  return { name: "memory files", ok: false, detail: `${some(aside)}; ${advice}` };
}

function some(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
  return `${names.slice(0, SHOWN).join(", ")}${more}`;
}

const SHOWN = 5;

/** As `setAside` names them (memory/file-storage.ts), in every folder that a scope's file may stand in. */
function setAsideUnder(place: MemoryPlace): string[] {
  const { base } = place;
  const own = memoryPath({ userId: "default", agentName: null }, place);
  const roots = [base, ...within(join(base, "users"))];
  const agents = roots.flatMap((root) => within(join(root, "agents")));
  const others = [...roots.slice(1), ...agents].map((folder) => join(folder, "memory.json"));
  return [own, ...others].flatMap((file) =>
    entries(dirname(file))
      .filter((name) => name.startsWith(`${basename(file)}.corrupt-`))
      .map((name) => join(dirname(file), name)),
  );
}

function within(folder: string): string[] {
  return entries(folder).map((name) => join(folder, name));
}

/** A folder that isn't there, or can't be read, holds nothing that could be named. */
function entries(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
