// The lines of docs/running.md that start a gateway, taken from the page and told to end as a container or systemd tells them.
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { configSchema } from "palimpsest/internal/config";
import { createKey } from "palimpsest/internal/key-operations";
import { openSqlite } from "palimpsest/stores";
import { type Upstream, upstream } from "../test/upstream.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const GUIDE = readFileSync(join(ROOT, "docs/running.md"), "utf8");
/** In a pid namespace of its own, as in a container: the program is process 1 there. */
const CONTAINED = ["unshare", "--pid", "--fork", "--mount-proc"];

test("the container's command as process 1: SIGTERM lets the answer under way end whole, and the exit code is 0", async (t) => {
  const command = JSON.parse(found(/^CMD (\[.*\])$/m)) as string[];
  const [program, ...args] = CONTAINED;
  const isPermitted = spawnSync(program!, [...args, "true"]).status === 0;
  if (!isPermitted) t.diagnostic("a pid namespace is not permitted here: the command runs as an ordinary process");
  const started = await starting(t, { command, home: "/data", directory: ".", before: isPermitted ? CONTAINED : [] });
  assert.deepEqual(await toldToEnd(started), ANSWERED);
});

test("systemd's command: SIGTERM lets the answer under way end whole, and the exit code is 0", async (t) => {
  const command = found(/^ExecStart=(.*)$/m).split(" ");
  const directory = found(/^WorkingDirectory=(.*)$/m);
  const home = `/var/lib/${found(/^StateDirectory=(.*)$/m)}`;
  assert.deepEqual(await toldToEnd(await starting(t, { command, home, directory, before: [] })), ANSWERED);
});

test("both wait longer before they kill it than an end may take", () => {
  const { gateway } = configSchema.parse({});
  // Runs that are stopped when the grace is over have some seconds to write down what was said.
  const longest = gateway.shutdown_grace_seconds + 15;
  assert.ok(Number(found(/^TimeoutStopSec=(\d+)$/m)) > longest);
  assert.ok(Number(found(/docker run -d .*--stop-timeout (\d+)/)) > longest);
});

const ANSWERED = { readyz: 503, text: "Once upon a time.", isWhole: true, code: 0 };

function found(pattern: RegExp): string {
  const match = pattern.exec(GUIDE)?.[1];
  assert.ok(match !== undefined, `docs/running.md has nothing like ${pattern}`);
  return match;
}

interface Line {
  readonly command: readonly string[];
  /** What stands for them in the guide. */
  readonly home: string;
  readonly directory: string;
  readonly before: readonly string[];
}

interface Started {
  readonly child: ChildProcess;
  /** Of the program itself, seen from here. */
  readonly pid: number;
  readonly url: string;
  readonly key: string;
  readonly provider: Upstream;
}

/** As the guide has it, but on a home of the test's and with the packages of this clone. */
async function starting(t: TestContext, { command, home, directory, before }: Line): Promise<Started> {
  const provider = await upstream(t);
  const own = mkdtempSync(join(tmpdir(), "palimpsest-documented-"));
  writeFileSync(join(own, "config.yaml"), `${provider.config}gateway: { port: 0, shutdown_grace_seconds: 3600 }\n`);
  const store = openSqlite({ path: join(own, "palimpsest.db") });
  const { key } = await createKey(store.keys, { user: "ops", role: "admin", expiresAt: null }, new Date());
  await store.close();
  const line = [...before, ...command].map((word) =>
    word === home ? own : directory === "." ? word : word.replace(`${directory}/`, ROOT),
  );
  const env = {
    PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`,
    HOME: own,
    NODE_OPTIONS: "--conditions=palimpsest-source",
  };
  const child = spawn(line[0]!, line.slice(1), { cwd: ROOT, env, stdio: ["ignore", "pipe", "ignore"] });
  let pid = child.pid!;
  t.after(async () => {
    for (const one of new Set([pid, child.pid!])) killed(one);
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    rmSync(own, { recursive: true, force: true });
  });
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, "exit").then(() => assert.fail(`${line.join(" ")} ended before it could answer`));
  const [first] = (await Promise.race([once(lines, "line"), ended])) as [string];
  if (before.length > 0) pid = childOf(child.pid!);
  const url = /http:\/\/\S+/.exec(first)![0].replace("0.0.0.0", "127.0.0.1");
  return { child, pid, url, key, provider };
}

/** Says what a client sees of an answer that is under way when the signal comes. */
async function toldToEnd({ child, pid, url, key, provider }: Started) {
  const asked = fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "small", stream: true, messages: [{ role: "user", content: "Tell me." }] }),
  });
  const told = await provider.next();
  told.say("Once");
  const response = await asked;
  const exited = once(child, "exit");
  process.kill(pid, "SIGTERM");
  let readyz = 200;
  while (readyz === 200) {
    readyz = (await fetch(`${url}/readyz`)).status;
    await pause(10);
  }
  told.say(" upon a time.");
  told.end();
  const answer = await response.text();
  const text = [...answer.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]).join("");
  const [code] = (await exited) as [number | null];
  return { readyz, text, isWhole: answer.endsWith("data: [DONE]\n\n"), code };
}

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
