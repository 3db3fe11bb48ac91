/**
 * How long an ordinary request waits while others send what takes long: in CPU time of the gateway's thread, so that the
 * machine's load doesn't count. Each slow request alone, and all of them at once. Linux only.
 * `npm run bench -- fairness [INPUT...]`
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createGateway } from "@palimpsest/gateway";
import { openHome } from "palimpsest/home";
import { excelBomb } from "../packages/gateway/test/documents.ts";
import { zip } from "../packages/gateway/test/zip.ts";
import type { Bench } from "./bench.ts";
import type { ClientOptions, HostileRequest, Observed } from "./fairness/client.ts";

/** What an innocent request may wait for. */
const MOST_MS = 200;

const fairness: Bench = async (args) => {
  const directory = mkdtempSync(join(tmpdir(), "palimpsest-fairness-"));
  const provider = new Worker(new URL("./fairness/provider.ts", import.meta.url));
  const [providerPort] = (await once(provider, "message")) as [number];
  writeFileSync(join(directory, "config.yaml"), configOf(providerPort));
  const home = await openHome({ home: directory, cwd: directory, env: { HOME: directory } });
  const gateway = createGateway({ home, log: () => {}, storeSilenceMs: 600_000 });
  try {
    const { port } = await gateway.listen({ port: 0 });
    // The first request loads modules.
    await observe(port, [chat([{ role: "user", content: "hello" }])]);
    await observe(port, [json("/api/threads", { id: "t" })]);
    const inputs = Object.entries(HOSTILE).filter(([name]) => args.length === 0 || args.includes(name));
    const rows: (FairnessRow & { readonly input: string })[] = [];
    for (const [input, make] of inputs) rows.push({ input, ...rowOf(await observe(port, [make()])) });
    const together = inputs.map(([, make]) => make());
    if (together.length > 1) rows.push({ input: "all at once", ...rowOf(await observe(port, together)) });
    return { most: MOST_MS, inputs: rows, ok: rows.every(({ waitedCpuMs }) => waitedCpuMs <= MOST_MS) };
  } finally {
    await gateway.close();
    await home.close();
    await provider.terminate();
    rmSync(directory, { recursive: true });
  }
};

interface FairnessRow {
  /** The most CPU time of the gateway's thread that one innocent request waited for. */
  readonly waitedCpuMs: number;
  /** What the slow requests took of it in all. */
  readonly cpuMs: number;
  readonly innocent: number;
  readonly statuses: string;
}

function rowOf({ statuses, waitedCpuMs, cpuMs, innocent }: Observed): FairnessRow {
  return { waitedCpuMs: Math.round(waitedCpuMs), cpuMs: Math.round(cpuMs), innocent, statuses: statuses.join() };
}

function configOf(providerPort: number): string {
  const address = `http://127.0.0.1:${providerPort}/v1`;
  const main = { name: "main", provider: "openai-compatible", model: "m", base_url: address, max_input_tokens: 60_000 };
  return `config_version: 1\nmodels: ${JSON.stringify([main])}\n`;
}

export default fairness;

function json(path: string, body: object): HostileRequest {
  return { method: "POST", path, type: "application/json", body: Buffer.from(JSON.stringify(body)) };
}

function chat(messages: readonly object[]): HostileRequest {
  return json("/v1/chat/completions", { model: "main", messages });
}

let made = 0;
/** No two requests are alike: what is known already costs less. */
function name(): string {
  made += 1;
  return `n${made}`;
}

const LINE = `${JSON.stringify({ role: "user", content: "one of very many lines" })}\n`;

const HOSTILE: Readonly<Record<string, () => HostileRequest>> = {
  excelOf4kB: () => upload("xlsx", excelBomb(8000)),
  messages20001: () => {
    const own = name();
    return chat(
      Array.from({ length: 20_001 }, (_, index) => ({
        role: index % 2 === 0 ? "user" : "assistant",
        content: `${own} ${index}`,
      })),
    );
  },
  words40MB: () => chat([{ role: "user", content: `${name()} ${"word ".repeat(8_000_000)}` }]),
  escapes40MB: () => chat([{ role: "user", content: `${name()} ${'\\"'.repeat(10_000_000)}` }]),
  runOf40MB: () => json("/api/threads/t/runs", { prompt: `${name()} ${"word ".repeat(8_000_000)}` }),
  chineseQuestion: () => json("/api/threads/t/runs", { prompt: `${name()} ${chinese(33_000)}` }),
  importOfChinese: () => ({
    method: "POST",
    path: `/api/threads/${name()}/import`,
    type: "application/x-ndjson",
    body: Buffer.from(
      Array.from({ length: 3000 }, () => JSON.stringify({ role: "user", content: name() + chinese(1000) })).join("\n"),
    ),
  }),
  lines40MB: () => chat([{ role: "user", content: `${name()} ${"a line\n".repeat(5_700_000)}` }]),
  quotes40MB: () => chat([{ role: "user", content: `${name()} ${'"'.repeat(20_000_000)}` }]),
  random40MB: () => chat([{ role: "user", content: `${name()} ${randomBytes(30_000_000).toString("base64")}` }]),
  random500kB: () => chat([{ role: "user", content: `${name()} ${randomBytes(375_000).toString("base64")}` }]),
  oneWordRepeated: () =>
    chat([
      ...Array.from({ length: 20 }, (_, index) => ({
        role: index % 2 === 0 ? "user" : "assistant",
        content: name() + "a@".repeat(30_000),
      })),
      { role: "user", content: "go" },
    ]),
  importOfOne40MBLine: () => ({
    method: "POST",
    path: `/api/threads/${name()}/import`,
    type: "application/x-ndjson",
    body: Buffer.from(JSON.stringify({ role: "user", content: `${name()} ${"word ".repeat(8_000_000)}` })),
  }),
  tools20000: () =>
    json("/v1/chat/completions", {
      model: "main",
      messages: [{ role: "user", content: name() }],
      tools: tools(20_000),
    }),
  htmlOf90kB: () =>
    upload("html", Buffer.from(`<table><tr>${"<td>x".repeat(4000)}${"<tr><td>y".repeat(8000)}</table>`)),
  wordOf240kB: () => upload("docx", zip({ "word/document.xml": "<w:t>a</w:t>".repeat(10_000_000) })),
  words5MB: () => chat([{ role: "user", content: `${name()} ${"word ".repeat(1_000_000)}` }]),
  brackets60MB: () => ({
    method: "POST",
    path: "/v1/chat/completions",
    type: "application/json",
    body: Buffer.alloc(60 << 20, "["),
  }),
  importOf50000Lines: () => ({
    method: "POST",
    path: `/api/threads/${name()}/import`,
    type: "application/zip",
    body: zip({ "a.jsonl": LINE.repeat(25_000), "b.jsonl": LINE.repeat(25_000) }),
  }),
  importOf600Branches: () => ({
    method: "POST",
    path: `/api/threads/${name()}/import`,
    type: "application/json",
    body: branchingExport(600),
  }),
  embeddingsOf900000: () =>
    json("/v1/embeddings", { model: "main", input: Array.from({ length: 900_000 }, (_, index) => `a${index}`) }),
  formOf200000Fields: () => ({
    method: "POST",
    path: "/v1/audio/transcriptions",
    type: "multipart/form-data; boundary=b",
    body: Buffer.from(`${'--b\r\ncontent-disposition: form-data; name="f"\r\n\r\nx\r\n'.repeat(200_000)}--b--\r\n`),
  }),
  exportOfAll: () => ({ method: "GET", path: "/api/user/export", type: null, body: null }),
};

function upload(ending: string, body: Buffer): HostileRequest {
  const path = `/api/threads/t/uploads?name=${name()}.${ending}`;
  return { method: "POST", path, type: "application/octet-stream", body };
}

function tools(count: number): readonly object[] {
  const parameters = { type: "object", properties: {} };
  return Array.from({ length: count }, (_, index) => ({
    type: "function",
    function: { name: `f${index}`, description: "d".repeat(200), parameters },
  }));
}

/** Text without a blank, of many different characters. */
function chinese(length: number): string {
  let seed = made + 1;
  return Array.from({ length }, () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return String.fromCharCode(0x4e00 + ((seed >> 8) % 6000));
  }).join("");
}

/** ChatGPT's export of a conversation in which each message was written a second time. */
function branchingExport(count: number): Buffer {
  const node = (id: string, parent: string | null, role: string) => {
    const content = { content_type: "text", parts: [`words of ${id}`] };
    return [id, { id, parent, children: [], message: { id, author: { role }, create_time: 1.7e9, content } }] as const;
  };
  const own = name();
  const mapping = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      node(`${own} a${index}`, index === 0 ? null : `${own} a${index - 1}`, "user"),
      node(`${own} b${index}`, `${own} a${index}`, "assistant"),
    ]).flat(),
  );
  return Buffer.from(JSON.stringify([{ conversation_id: own, current_node: `${own} a${count - 1}`, mapping }]));
}

async function observe(port: number, requests: readonly HostileRequest[]): Promise<Observed> {
  const workerData: ClientOptions = { port, pid: process.pid, requests };
  const worker = new Worker(new URL("./fairness/client.ts", import.meta.url), { workerData });
  try {
    return await new Promise<Observed>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
  } finally {
    await worker.terminate();
  }
}
