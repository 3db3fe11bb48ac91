/**
 * The default shell: a bash interpreter over the thread's folders, on a worker thread of this process. It starts no host
 * process, has no network and follows no links. Commands run one after another; one that doesn't end within its time
 * takes its worker with it. `/tmp` and everything outside of the workspace lives in the worker's memory.
 */
import { Worker } from "node:worker_threads";
import { startFailure } from "./sandbox-start.ts";
import type { WorkerReply, WorkerRequest, WorkerSetup } from "./sandbox-worker.ts";
import type { Shell, ShellOptions, ShellResult } from "./shell.ts";
import { prepareWorkspace, type Workspace } from "./workspace.ts";

/** A worker that nobody uses is given back; the next command starts another. */
const IDLE_MS = 30_000;
/** How long a worker may take to end a command by itself, so that its output so far is not lost. */
const GRACE_MS = 500;
const AGAIN_MS = 1000;
const MEMORY_MB = 512;

export function sandboxShell(workspace: Workspace): Shell {
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

/** Told again until it has ended. Nobody waits for that, nor does the process: being told makes it wait. */
function endWorker(worker: Worker): void {
  const tell = (): void => {
    void worker.terminate().then(() => clearInterval(again));
    worker.unref();
  };
  const again = setInterval(tell, AGAIN_MS).unref();
  tell();
}

type Asked = ShellResult & { readonly worker: "usable" | "spent" };

function ask(worker: Worker, command: string, { timeoutMs, signal }: ShellOptions): Promise<Asked> {
  return new Promise((resolve, reject) => {
    worker.ref();
    const stopListening = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stopped);
      worker.off("message", answered).off("error", failed).off("exit", exited);
      worker.unref();
    };
    const settle = (result: Asked): void => {
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

function lost(stderr: string, cut: ShellResult["cut"]): Asked {
  return { stdout: "", stderr, exitCode: 124, cut, worker: "spent" };
}

/** Memory is a limit that a command can stay below; whatever else ended the worker is a fault of its own. */
function endedBy(error: Error): Asked {
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
