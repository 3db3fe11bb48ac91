/** The port of the `bash` tool: a function that carries out one command, in the sandbox or on this machine. */
import { spawn } from "node:child_process";
import { Worker } from "node:worker_threads";
import { ROOT_NAMES, VIRTUAL_ROOT } from "./inside.ts";
import { startFailure } from "./sandbox-start.ts";
import type { WorkerReply, WorkerRequest, WorkerSetup } from "./sandbox-worker.ts";
import { prepareWorkspace, type Workspace } from "./workspace.ts";

export type WorkspaceShell = (command: string, options: ShellOptions) => Promise<ShellResult>;

interface ShellOptions {
  readonly timeoutMs: number;
  /** Of both streams together. */
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
}

export interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Which limit ended it, if one did. */
  readonly cut: "time" | "output" | "work" | null;
}

/*
 * The shell of this machine, for those who opt in (`workspace.host_bash`). It is NOT a sandbox: a command can do
 * whatever the user that runs Palimpsest can do. It starts in the workspace, gets none of this process's environment
 * beyond `PATH`, and its whole process group ends with its time, its output limit or its run.
 */

export const HOST_WARNING =
  "workspace.host_bash is on: bash commands run on this machine with your rights, not in the sandbox. Use it only with models and inputs you trust.";

export function hostShell(workspace: Workspace): WorkspaceShell {
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

/*
 * The default shell: a bash interpreter over the thread's folders, on a worker thread of this process. It starts no host
 * process, has no network and follows no links. Commands run one after another; one that doesn't end within its time
 * takes its worker with it. `/tmp` and everything outside of the workspace lives in the worker's memory.
 */

/** An idle worker is ended; the next command starts another. */
const IDLE_MS = 30_000;
/** How long a worker may take to end a command by itself, so that its output so far is not lost. */
const GRACE_MS = 500;
const AGAIN_MS = 1000;
const MEMORY_MB = 512;

export function sandboxShell(workspace: Workspace): WorkspaceShell {
  let worker: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;

  const end = (): void => {
    if (worker !== null) endWorker(worker);
    worker = null;
  };
  const run = async (command: string, options: ShellOptions): Promise<ShellResult> => {
    clearTimeout(idle);
    await prepareWorkspace(workspace);
    worker ??= startWorker({ workspace, maxOutputBytes: options.maxOutputBytes });
    const result = await ask(worker, command, options).catch((error: unknown) => {
      end();
      throw error;
    });
    if (result.worker === "spent") end();
    else idle = setTimeout(end, IDLE_MS).unref();
    return result;
  };
  return (command, options) => {
    const mine = last.then(() => run(command, options));
    last = mine.catch(() => {});
    return mine;
  };
}

/** In a build the worker is JavaScript beside this file; from sources it is TypeScript. */
function startWorker(setup: WorkerSetup): Worker {
  const options = { workerData: setup, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB }, env: {} };
  const source = SOURCES ? "./sandbox-worker.ts" : null;
  // Bundlers know the second form, letter for letter, and bring the worker along.
  const worker =
    source !== null
      ? new Worker(new URL(source, import.meta.url), options)
      : new Worker(new URL("./sandbox-worker.js", import.meta.url), options);
  worker.unref();
  return worker;
}

const SOURCES = import.meta.url.endsWith(".ts");

/** Told again until it has ended. Neither the caller nor the process waits for that: `terminate` refs the worker. */
function endWorker(worker: Worker): void {
  const tell = (): void => {
    void worker.terminate().then(() => clearInterval(again));
    worker.unref();
  };
  const again = setInterval(tell, AGAIN_MS).unref();
  tell();
}

type CommandResult = ShellResult & { readonly worker: "usable" | "spent" };

function ask(worker: Worker, command: string, { timeoutMs, signal }: ShellOptions): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    worker.ref();
    const stopListening = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stopped);
      worker.off("message", answered).off("error", failed).off("exit", exited);
      worker.unref();
    };
    const settle = (result: CommandResult): void => {
      stopListening();
      resolve(result);
    };
    const answered = ({ timedOut, ...reply }: WorkerReply): void =>
      settle({ ...reply, cut: timedOut ? "time" : cutReason(reply.stderr), worker: "usable" });
    const failed = (error: Error): void => {
      const failure = startFailure(error);
      if (failure === null) settle(endedBy(error));
      else {
        stopListening();
        reject(failure);
      }
    };
    const exited = (): void => settle(lost("bash: the shell ended unexpectedly\n", "work"));
    const stopped = (): void => settle(lost("bash: stopped\n", null));
    const timer = setTimeout(() => settle(lost("", "time")), timeoutMs + GRACE_MS);
    worker.on("message", answered).on("error", failed).on("exit", exited);
    if (signal.aborted) stopped();
    else signal.addEventListener("abort", stopped, { once: true });
    worker.postMessage({ command, timeoutMs } satisfies WorkerRequest);
  });
}

function lost(stderr: string, cut: ShellResult["cut"]): CommandResult {
  return { stdout: "", stderr, exitCode: 124, cut, worker: "spent" };
}

/** Memory is a limit that a command can stay below; whatever else ended the worker is a fault of its own. */
function endedBy(error: Error): CommandResult {
  const { code, message } = error as { readonly code?: unknown; readonly message: string };
  return code === "ERR_WORKER_OUT_OF_MEMORY" ? lost("bash: out of memory\n", "work") : lost(`bash: ${message}\n`, null);
}

/** The interpreter says in words which of its limits was met. */
function cutReason(stderr: string): ShellResult["cut"] {
  if (/output size (?:limit )?exceeded|output size exceeded/.test(stderr)) return "output";
  return /exceeded maximum iterations|limit exceeded|too many commands|maximum recursion depth/.test(stderr)
    ? "work"
    : null;
}
