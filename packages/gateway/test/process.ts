/** A gateway or a worker in a process of its own, to be killed, stopped and started again. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export class Process {
  child: ChildProcess | null = null;
  url = "";
  readonly #args: readonly string[];
  #starting: Promise<void> | null = null;

  /** `aheadMs`: how much later it is by its clock. */
  constructor(
    script: "./serving-process.ts" | "./working-process.ts",
    directory: string,
    { aheadMs = 0 }: { readonly aheadMs?: number } = {},
  ) {
    const path = fileURLToPath(new URL(script, import.meta.url));
    this.#args = ["--conditions=palimpsest-source", `--import=${clockOf(aheadMs)}`, path, directory];
  }

  /** One at a time: a process that is killed while it starts must not be started twice. */
  start(): Promise<void> {
    this.#starting ??= this.#startOnce().finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  async #startOnce(): Promise<void> {
    for (;;) {
      const child = spawn(process.execPath, this.#args, { stdio: ["ignore", "pipe", "ignore"] });
      this.child = child;
      const lines = createInterface(child.stdout!);
      const [first] = (await Promise.race([once(lines, "line"), once(child, "exit")])) as [unknown];
      // While the server is down it can't start.
      if (typeof first !== "string") continue;
      this.url = first;
      return;
    }
  }

  async kill(): Promise<void> {
    if (this.child === null || this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await gone;
  }
}

/** A module that sets the clock of its process. */
function clockOf(aheadMs: number): string {
  const code = `const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { given.length === 0 ? super(Real.now() + ${aheadMs}) : super(...given); }
      static now() { return Real.now() + ${aheadMs}; }
    };`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}
