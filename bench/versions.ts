/**
 * The CPU of one turn beside the model, in this checkout and in another one of an earlier commit: both in one process,
 * turn by turn in alternation, so that whatever else the machine does hits both. A turn is a question, a tool call, its
 * result and an answer on a thread of which so many messages are visible; the other checkout needs its own `npm ci`.
 * `npm run bench -- versions CHECKOUT [--visible 20,10000] [--turns 40]`
 */
import { createHash, randomUUID } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Bench, BenchInputError, quantile } from "./bench.ts";

const USAGE = "npm run bench -- versions CHECKOUT [--visible 20,10000] [--turns 40]";
const HERE = fileURLToPath(new URL("..", import.meta.url));

const versions: Bench = async ([other], options) => {
  if (other === undefined || !existsSync(join(other, "packages/harness/src/index.ts")))
    throw new BenchInputError(`Name the folder of another checkout, installed: ${USAGE}`);
  const turns = Number(options["turns"] ?? 40);
  const sizes = String(options["visible"] ?? "20,10000")
    .split(",")
    .map(Number);
  const rows = [];
  for (const visible of sizes) {
    const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-"));
    const [theirs, ours] = [join(folder, "before.db"), join(folder, "now.db")];
    await fill(other, theirs, visible);
    copyFileSync(theirs, ours);
    const before = await openVersion(other, theirs, visible);
    const now = await openVersion(HERE, ours, visible);
    const cpu = { before: [] as number[], now: [] as number[] };
    for (let round = -WARM_UP; round < turns; round += 1) {
      // Who goes first alternates: the second of two finds the caches and the collector as the first left them.
      const order =
        round % 2 === 0
          ? ([
              ["before", before],
              ["now", now],
            ] as const)
          : ([
              ["now", now],
              ["before", before],
            ] as const);
      for (const [name, version] of order) {
        const start = process.cpuUsage();
        await version.turn(round);
        const { user, system } = process.cpuUsage(start);
        if (round >= 0) cpu[name].push((user + system) / 1000);
      }
    }
    await before.close();
    await now.close();
    rmSync(folder, { recursive: true });
    const [was, is] = [quantile(cpu.before, 0.5), quantile(cpu.now, 0.5)];
    rows.push({ visible, beforeMs: was, nowMs: is, ratio: is / was });
  }
  return { turns, rows };
};

export default versions;

/** The first turns pay for compiling. */
const WARM_UP = 10;
const BATCH = 1000;
const THREAD = "long";

/** Filled once, by the older version: the newer one brings a store up to date when it opens it. */
async function fill(checkout: string, path: string, visible: number): Promise<void> {
  const part = (name: string) => import(join(checkout, "packages/harness/src", name));
  const { openStore } = (await part("stores/index.ts")) as typeof import("palimpsest/stores");
  const older = (): Promise<unknown> => part("threads/index.ts");
  const { appendMessages } = (await part("thread/acts.ts").catch(older)) as typeof import("palimpsest/session");
  const { createThread } = (await part("thread/writer.ts").catch(
    older,
  )) as typeof import("palimpsest/internal/threads");
  const store = await openStore(path);
  const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
  const deps = { store, hash, clock: () => new Date(), ids: randomUUID };
  await createThread(deps, { id: THREAD });
  const taken = await store.acquireLease(THREAD, "bench", 3_600_000);
  if (taken.kind !== "acquired") throw new Error(`no lease on the thread: ${taken.kind}`);
  const writer = { ...deps, lease: taken.lease, runId: null };
  for (let done = 0; done < visible; done += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, visible - done) }, (_, index) => said(done + index));
    await appendMessages(writer, batch);
  }
  await store.releaseLease(taken.lease);
  await store.close();
}

async function openVersion(checkout: string, path: string, visible: number) {
  const part = (name: string) => import(join(checkout, "packages/harness/src", name));
  const { createDeepAgent } = (await part("index.ts")) as typeof import("palimpsest");
  const stores = (await part("stores/index.ts")) as typeof import("palimpsest/stores");
  const store = await stores.openStore(path);
  const agent = createDeepAgent({
    model: instantModel(visible),
    store,
    window: 100_000_000,
    summarizer: null,
  });
  return {
    async turn(round: number) {
      const { end } = await agent.generate({ threadId: THREAD, prompt: `Question ${round}: when does the tide turn?` });
      if (end.kind !== "answered") throw new Error(`a turn of ${checkout} ended ${JSON.stringify(end)}`);
    },
    close: () => store.close(),
  };
}

type Model = Parameters<typeof import("palimpsest").createDeepAgent>[0]["model"];

/** Costs nothing itself: it looks at no prompt, and reports a size that grows as the thread does. */
function instantModel(visible: number): Model {
  let calls = 0;
  const stream = (): ReadableStream<object> => {
    const input = 4000 + visible * 75 + calls * 40;
    const usage = {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 20, text: 20, reasoning: 0 },
    };
    const parts = calls++ % 2 === 0 ? callParts(`look-${calls}`) : TEXT_PARTS;
    const unified = parts === TEXT_PARTS ? "stop" : "tool-calls";
    return ReadableStream.from([
      { type: "stream-start", warnings: [] },
      ...parts,
      { type: "finish", finishReason: { unified, raw: unified }, usage },
    ]);
  };
  return {
    specificationVersion: "v4",
    provider: "bench",
    modelId: "instant",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("the bench streams")),
    doStream: async () => ({ stream: stream() }),
    // The SDK's own types of a stream are no dependency of the benches.
  } as unknown as Model;
}

const TEXT_PARTS: readonly object[] = [
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta: "The tide turns at six, and the wind goes round to the west by noon." },
  { type: "text-end", id: "0" },
];

/** Of a tool that isn't there: its result is an error, and nothing is run for it. */
const callParts = (toolCallId: string): readonly object[] => [
  { type: "tool-call", toolCallId, toolName: "tides", input: "{}" },
];

/** A question, a call, its result and an answer, again and again. */
function said(index: number): { dialect: "ai-sdk"; origin: "user" | "model" | "tool"; body: string } {
  const text = `Message ${index}: the tide stands at ${index % 97} feet and the boats are in. `.repeat(5);
  const toolCallId = `call-${index - (index % 4)}`;
  const [origin, message] = (
    [
      ["user", { role: "user", content: text }],
      [
        "model",
        { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName: "tides", input: { index } }] },
      ],
      [
        "tool",
        {
          role: "tool",
          content: [{ type: "tool-result", toolCallId, toolName: "tides", output: { type: "text", value: text } }],
        },
      ],
      ["model", { role: "assistant", content: [{ type: "text", text }] }],
    ] as const
  )[index % 4]!;
  return { dialect: "ai-sdk", origin, body: JSON.stringify(message) };
}
