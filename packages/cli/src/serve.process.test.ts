// `palimpsest serve` as a program that others start: what it prints, and how it ends.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { BINARY, CLEAN, desk } from "../test/binary.ts";

interface Ended {
  readonly code: number | null;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
}

interface Serving {
  readonly url: string;
  readonly pid: number;
  end(signal: "SIGTERM" | "SIGINT"): Promise<Ended>;
}

async function serving(t: TestContext, home: string, name = "serve"): Promise<Serving> {
  const args = ["--conditions=palimpsest-source", BINARY, name, "--port", "0", "--json", "--home", home];
  const child = spawn(process.execPath, args, { env: CLEAN, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  const stderr: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => stderr.push(line));
  const stdout: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => stdout.push(line));
  const [first] = (await once(lines, "line")) as [string];
  const { url, pid } = JSON.parse(first) as { url: string; pid: number };
  assert.equal(pid, child.pid);
  return {
    url,
    pid,
    async end(signal) {
      child.kill(signal);
      const [code] = (await once(child, "close")) as [number | null];
      return { code, stdout, stderr };
    },
  };
}

test("serve prints one line when it can answer, and SIGTERM ends it with exit code 0", async (t) => {
  const { home } = desk(t);
  const { url, end } = await serving(t, home);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual(await (await fetch(`${url}/readyz`)).json(), { ok: true });
  const { code, stdout } = await end("SIGTERM");
  assert.deepEqual([code, stdout.length], [0, 1]);
});

test("studio serves the page where no gateway is, and otherwise says where it is already", async (t) => {
  const at = desk(t);
  const { url, end } = await serving(t, at.home, "studio");
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
  assert.match((await fetch(`${url}threads`)).headers.get("content-type") ?? "", /^text\/html/);
  const again = await at.json("studio", "notes", "--port", new URL(url).port);
  assert.equal(again.document["url"], `${url}threads/notes/window`);
  assert.equal((await end("SIGTERM")).code, 0);
});

test("serve logs each request, and studio leaves the terminal it was started from alone", async (t) => {
  const at = desk(t);
  for (const [name, lines] of [
    ["serve", 1],
    ["studio", 0],
  ] as const) {
    const { url, end } = await serving(t, at.home, name);
    assert.equal((await fetch(new URL("/api/threads", url))).status, 200);
    const { stderr } = await end("SIGTERM");
    assert.equal(stderr.filter((line) => line.includes('"/api/threads"')).length, lines, name);
  }
});

test("Ctrl-C ends it in the same way, and an address that others can reach is refused", async (t) => {
  const at = desk(t);
  const { end } = await serving(t, at.home);
  assert.equal((await end("SIGINT")).code, 0);
  const refused = await at.json("serve", "--host", "0.0.0.0", "--port", "0");
  assert.equal(refused.code, 1);
  assert.deepEqual((refused.document["error"] as { code: string }).code, "keys-needed");
});

test("worker prints one line when it works, and SIGTERM ends it with exit code 0", async (t) => {
  const { home } = desk(t);
  const args = ["--conditions=palimpsest-source", BINARY, "worker", "--json", "--home", home];
  const child = spawn(process.execPath, args, { env: CLEAN, stdio: ["ignore", "pipe", "ignore"] });
  t.after(() => child.kill("SIGKILL"));
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  assert.deepEqual(JSON.parse(line), { pid: child.pid });
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("serve ends when the npx that started it is killed, which hands no signal on", async (t) => {
  const { home } = desk(t);
  const line = `"$0" --conditions=palimpsest-source "$1" serve --port 0 --json --home "$2"; true`;
  const npx = spawn("sh", ["-c", line, process.execPath, BINARY, home], {
    env: { ...CLEAN, npm_command: "exec" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const lines = createInterface({ input: npx.stdout });
  const [first] = (await once(lines, "line")) as [string];
  const { pid } = JSON.parse(first) as { pid: number };
  t.after(() => {
    if (!npx.stdout.closed) process.kill(pid, "SIGKILL");
  });
  npx.kill("SIGTERM");
  // The gateway has the other end of the pipe.
  await once(npx.stdout, "close");
});
