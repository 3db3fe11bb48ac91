/**
 * The inside of the sandboxed shell, on a thread of its own: a loop that never yields blocks this thread and no other,
 * and is ended from outside. Speaks in messages only; see `shell.ts`.
 */
import { parentPort, workerData } from "node:worker_threads";
import { Bash, InMemoryFs, MountableFs, OverlayFs } from "just-bash";
import { BoundedFs, Room } from "./bounded-fs.ts";
import { ROOT_NAMES, VIRTUAL_ROOT } from "./inside.ts";
import { longRanges } from "./long-ranges.ts";
import type { Workspace } from "./workspace.ts";

export interface WorkerSetup {
  readonly workspace: Workspace;
  readonly maxOutputBytes: number;
}

export interface WorkerRequest {
  readonly command: string;
  readonly timeoutMs: number;
}

export interface WorkerReply {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly timedOut: boolean;
}

const HOME = `${VIRTUAL_ROOT}/workspace`;
const MAX_FILE = 64 << 20;
const MEMORY = 64 << 20;

const { workspace, maxOutputBytes } = workerData as WorkerSetup;
const room = new Room(workspace);
/** Why the command may not write where it tried to. */
const refusals = new Set<string>();
const bash = openBash();

parentPort!.on("message", async ({ command, timeoutMs }: WorkerRequest) => {
  await room.measure();
  refusals.clear();
  const limit = AbortSignal.timeout(timeoutMs);
  const reply = await bash.exec(command, { rawScript: true, signal: limit }).then(
    ({ stdout, stderr, exitCode }) => ({ stdout, stderr, exitCode }),
    // Some failed redirections reject instead of setting an exit code.
    (error: unknown) => ({
      stdout: "",
      stderr: `bash: ${error instanceof Error ? error.message : error}\n`,
      exitCode: 1,
    }),
  );
  const unsaid = [...refusals].filter((sentence) => !reply.stderr.includes(sentence));
  const stderr = [reply.stderr, ...unsaid.slice(0, 5).map((sentence) => `bash: ${sentence}\n`)].join("");
  parentPort!.postMessage({ ...reply, stderr, timedOut: limit.aborted } satisfies WorkerReply);
});

function openBash(): Bash {
  const onRefusal = (sentence: string): void => void refusals.add(sentence);
  const fs = new MountableFs({ base: new InMemoryFs() });
  for (const name of ROOT_NAMES) {
    const { directory: root, access, protect = [] } = workspace.roots[name];
    const files =
      access === "read-only"
        ? new OverlayFs({ root, mountPoint: "/", readOnly: true, maxFileReadSize: MAX_FILE })
        : new BoundedFs({ root, maxFileReadSize: MAX_FILE, maxCopySize: MAX_FILE }, { name, protect, room, onRefusal });
    fs.mount(`${VIRTUAL_ROOT}/${name}`, files);
  }
  const shell = new Bash({
    fs,
    cwd: HOME,
    env: { HOME, USER: "agent" },
    executionLimits: {
      maxOutputSize: maxOutputBytes,
      // About what fits into the default time: a loop that ends here keeps the output it has made.
      maxLoopIterations: 1_000_000,
      maxCommandCount: 1_000_000,
      maxFileSystemBytes: MEMORY,
      maxLiveBytes: 4 * MEMORY,
      maxStringLength: MEMORY,
    },
  });
  shell.registerTransformPlugin(longRanges);
  return shell;
}
