/**
 * The shell of this machine, for those who opt in (`workspace.host_bash`). It is NOT a sandbox: a command can do
 * whatever the user that runs Palimpsest can do. It starts in the workspace, gets none of this process's environment
 * beyond `PATH`, and its whole process group ends with its time, its output limit or its run.
 */
import { spawn } from "node:child_process";
import type { Shell, ShellResult } from "./shell.ts";
import { ROOT_NAMES, VIRTUAL_ROOT } from "./virtual-path.ts";
import { prepareWorkspace, type Workspace } from "./workspace.ts";

export const HOST_WARNING =
  "workspace.host_bash is on: bash commands run on this machine with your rights, not in the sandbox. Use it only with models and inputs you trust.";

export function hostShell(workspace: Workspace): Shell {
  return async (command, { timeoutMs, maxOutputBytes, signal }) => {
    await prepareWorkspace(workspace);
    const directory = workspace.roots.workspace.directory;
    const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: directory, LANG: "C.UTF-8", TERM: "dumb" };
    const child = spawn("bash", ["-c", toHost(workspace, command)], {
      cwd: directory,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let cut: ShellResult["cut"] = null;
    let size = 0;
    const end = (why: ShellResult["cut"]): void => {
      cut ??= why;
      if (child.pid !== undefined) killGroup(child.pid);
    };
    const collect = (stream: keyof typeof output) => (chunk: Buffer) => {
      const room = Math.max(0, maxOutputBytes - size);
      size += chunk.length;
      output[stream].push(chunk.subarray(0, room));
      if (size > maxOutputBytes) end("output");
    };
    child.stdout?.on("data", collect("stdout"));
    child.stderr?.on("data", collect("stderr"));
    const timer = setTimeout(() => end("time"), timeoutMs);
    const stop = (): void => end(null);
    signal.addEventListener("abort", stop, { once: true });
    const exitCode = await new Promise<number>((resolve) => {
      child.on("error", () => resolve(127));
      child.on("close", (code) => resolve(code ?? 137));
    });
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    const text = (chunks: readonly Buffer[]): string => toVirtual(workspace, Buffer.concat(chunks).toString("utf8"));
    return { stdout: text(output.stdout), stderr: text(output.stderr), exitCode, cut };
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended in the meantime.
  }
}

/** The virtual folders don't exist on the host; commands may name them all the same. */
function toHost({ roots }: Workspace, text: string): string {
  return ROOT_NAMES.reduce((done, name) => done.split(`${VIRTUAL_ROOT}/${name}`).join(roots[name].directory), text);
}

function toVirtual({ roots }: Workspace, text: string): string {
  return ROOT_NAMES.reduce((done, name) => done.split(roots[name].directory).join(`${VIRTUAL_ROOT}/${name}`), text);
}
