/** Which processes of a test run have lived too long. Decides only; who ends them is run-tests.ts. */
import { familyOf, type Process } from "./processes.ts";

export interface Limits {
  /** For one test file. */
  readonly fileMs: number;
  /** For what a test file has started and left: its cleanup needs a moment. */
  readonly orphanMs: number;
}

export interface Sight {
  readonly all: readonly Process[];
  /** Those that come from this run, even if they have another parent by now. */
  readonly marked: ReadonlySet<number>;
  readonly now: number;
}

export interface Overdue {
  readonly process: Process;
  readonly reason: string;
}

/** To be called again and again: how old a process is goes by when it was seen first. */
export function watchProcesses(runner: number, { fileMs, orphanMs }: Limits): (sight: Sight) => readonly Overdue[] {
  let seen = new Map<string, number>();
  return ({ all, marked, now }) => {
    const family = new Set(familyOf(runner, all).map(({ pid }) => pid));
    const files = all.filter(({ parent }) => parent === runner);
    const orphans = all.filter(({ pid }) => marked.has(pid) && !family.has(pid));
    const since = (kind: string, { pid, command }: Process) => `${kind} ${pid} ${command}`;
    const before = seen;
    const overdue = (kind: string, found: readonly Process[], limitMs: number) =>
      found.filter((process) => {
        const key = since(kind, process);
        seen.set(key, before.get(key) ?? now);
        return now - seen.get(key)! >= limitMs;
      });
    seen = new Map();
    return [
      ...overdue("file", files, fileMs).map((process) => ({
        process,
        reason: `it has not ended after ${Math.round(fileMs / 1000)} s`,
      })),
      ...overdue("orphan", orphans, orphanMs).map((process) => ({ process, reason: "a test left it behind" })),
    ];
  };
}
