/** Finds and ends processes that tests have left behind. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

export async function allProcesses(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,args="], { maxBuffer: 1 << 26 });
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return command === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
  });
}

/** The process and everything it has started, itself first. */
export function familyOf(pid: number, all: readonly Process[]): Process[] {
  const own = all.filter((one) => one.pid === pid);
  const children = all.filter(({ parent }) => parent === pid);
  return [...own, ...children.flatMap((child) => familyOf(child.pid, all))];
}

/** Its first process at once. The others get a moment: some of them tidy up when it is gone. */
export async function endFamily([first, ...others]: readonly Process[], graceMs: number): Promise<void> {
  if (first !== undefined) kill(first.pid);
  for (const start = Date.now(); others.length > 0 && Date.now() - start < graceMs; await pause(100)) {
    const left = new Set((await allProcesses()).map(({ pid, command }) => `${pid} ${command}`));
    others = others.filter(({ pid, command }) => left.has(`${pid} ${command}`));
  }
  for (const { pid } of others) kill(pid);
}

/** Those that carry the mark in their environment, but for this one. Only Linux shows it. */
export async function markedProcesses(mark: string): Promise<ReadonlySet<number>> {
  const ids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const marked = await Promise.all(
    ids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
      return environment.includes(mark) ? [pid] : [];
    }),
  );
  return new Set(marked.flat().filter((pid) => pid !== process.pid));
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
