/**
 * Runs jobs on every core: one worker per core, each takes the next job when it has done one. A job is plain data, and
 * what is called is an export of a module, because that is all that reaches another thread.
 */
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

export interface CoreTask {
  /** The module's URL and the name of its export: a function from a job to a promise of plain data. */
  readonly module: string;
  readonly name: string;
}

/** Calls `done` for each result as it comes; fails with the first job that fails. */
export async function onEveryCore<J, R>(
  { module, name }: CoreTask,
  jobs: readonly J[],
  done: (result: R, job: J) => void,
): Promise<void> {
  const code = `import { parentPort } from "node:worker_threads";
    const { ${name} } = await import(${JSON.stringify(module)});
    parentPort.on("message", async (job) => parentPort.postMessage(await ${name}(job)));`;
  const waiting = [...jobs];
  const play = async (): Promise<void> => {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
    try {
      for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
        worker.postMessage(job);
        const [result] = (await once(worker, "message")) as [R];
        done(result, job);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, play));
}
