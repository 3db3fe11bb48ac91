/**
 * The hostile clients and the innocent one of `bench/fairness.ts`, on a thread of their own. While the hostile requests
 * run, the innocent one asks `/healthz` again and again and notes how much CPU time the gateway's thread took meanwhile.
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

export interface HostileRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly type: string | null;
  readonly body: Uint8Array | null;
}

export interface ClientOptions {
  readonly port: number;
  /** Of the gateway's process: its main thread has the same number. */
  readonly pid: number;
  readonly requests: readonly HostileRequest[];
}

export interface Observed {
  readonly statuses: readonly number[];
  /** The most CPU time of the gateway's thread that one innocent request waited for. */
  readonly waitedCpuMs: number;
  /** Of all requests. */
  readonly cpuMs: number;
  readonly innocent: number;
}

const { port, pid, requests } = workerData as ClientOptions;
const agent = new Agent({ keepAlive: true });
const INNOCENT: HostileRequest = { method: "GET", path: "/healthz", type: null, body: null };

const ended = new AbortController();
const observing = observe();
// The first one opens its connection.
await ask(INNOCENT);
const statuses = await Promise.all(requests.map(ask));
ended.abort();
parentPort!.postMessage({ statuses, ...(await observing) } satisfies Observed);

async function observe(): Promise<Omit<Observed, "statuses">> {
  let [waitedCpuMs, innocent] = [0, 0];
  const began = cpuMs();
  while (!ended.signal.aborted) {
    const before = cpuMs();
    await ask(INNOCENT);
    waitedCpuMs = Math.max(waitedCpuMs, cpuMs() - before);
    innocent += 1;
    await sleep(5);
  }
  return { waitedCpuMs, cpuMs: cpuMs() - began, innocent };
}

/** Of the gateway's thread, whatever else the machine does. */
function cpuMs(): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

function ask({ method, path, type, body }: HostileRequest): Promise<number> {
  const headers = {
    "x-palimpsest-bench": "1",
    ...(type !== null && { "content-type": type }),
    ...(body !== null && { "content-length": body.length }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, path, method, agent, headers }, (incoming) => {
      incoming.resume();
      incoming.on("end", () => resolve(incoming.statusCode!));
      incoming.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body ?? undefined);
  });
}
