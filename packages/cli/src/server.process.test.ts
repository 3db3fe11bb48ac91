// Commands against a gateway: what they print is what they print on the home that the gateway serves.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createGateway } from "@palimpsest/gateway";
import { openHome } from "palimpsest/home";
import { type Desk, desk, type Ended, palimpsest } from "../test/binary.ts";

const LINES = [
  { role: "user", content: "Which bird wades by the harbor?" },
  { role: "assistant", content: "The grey heron wades by the harbor, slowly." },
  { role: "user", content: "And the crane?" },
  { role: "assistant", content: "The crane stands in the fields." },
];

interface Served extends Desk {
  readonly url: string;
  remote(...args: readonly string[]): Promise<Ended>;
}

/** A home with one thread, served by a gateway in this process. */
async function served(t: TestContext): Promise<Served> {
  const at = desk(t);
  const file = at.file("birds.jsonl", LINES.map((line) => `${JSON.stringify(line)}\n`).join(""));
  assert.equal((await at.run("import", file, "--thread", "birds")).code, 0);
  const home = await openHome({ home: at.home, cwd: at.home, env: { HOME: at.home } });
  const gateway = createGateway({ home });
  t.after(async () => {
    await gateway.close();
    await home.close();
  });
  const { url } = await gateway.listen({ port: 0 });
  return { ...at, url, remote: (...args) => palimpsest([...args, "--server", url]) };
}

/** The others print the document of a route as it is, too; these are put together on both sides. */
const AS_JSON: ReadonlySet<string> = new Set(["threads", "context"]);

test("what a command shows of a gateway's threads and memory is what it shows of the home", async (t) => {
  const at = await served(t);
  assert.equal((await at.run("memory", "add", "Watches herons")).code, 0);
  for (const command of [
    ["threads"],
    ["view", "birds"],
    ["context", "birds", "--window", "8000"],
    ["replay", "birds"],
    ["search", "birds", "heron"],
    ["memory", "show"],
    ["memory", "history"],
  ])
    for (const format of AS_JSON.has(command[0]!) ? [[], ["--json"]] : [[]]) {
      const args = [...command, ...format];
      const [here, there] = await Promise.all([at.run(...args), at.remote(...args)]);
      assert.deepEqual([there.code, there.stdout, there.stderr], [here.code, here.stdout, here.stderr], args.join(" "));
    }
  const raw = await at.remote("replay", "birds", "--raw");
  assert.deepEqual(
    raw.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
    LINES,
  );
  const none = JSON.parse((await at.remote("models", "--json")).stdout);
  assert.deepEqual(none.configured, []);
});

test("commands change what a gateway has, and say it in the same words", async (t) => {
  const at = await served(t);
  const file = at.file("more.jsonl", '{"role":"user","content":"Hello"}\n{"role":"assistant","content":"Hi."}\n');
  const steps: readonly (readonly [args: readonly string[], stdout: RegExp])[] = [
    [["import", file, "--thread", "more"], /^Imported 2 openai messages into more; 0 lines skipped\.\n$/],
    [["pin", "birds", "2"], /^Pinned message 2 of birds\.\n$/],
    [["fork", "birds", "--at", "3", "--as", "again"], /^Forked birds at record 3 as again\.\n$/],
    [["threads", "rename", "again", "The second try"], /^again is called "The second try" now\.\n$/],
    [["fork", "birds", "--at", "2", "--as", "again-2"], /^Forked birds at record 2 as again-2\.\n$/],
    [["threads", "delete", "again-*", "--yes"], /^Deleted 1 thread\.\n$/],
    [["threads", "delete", "again"], /^Deleted again\.\n$/],
    [["redact", "more", "2"], /^Redacted message 2 of more\.\n$/],
    [["memory", "add", "Likes cranes"], /^Remembered as \S+: Likes cranes\n$/],
    [["memory", "edit", "userContext.topOfMind", "storks"], /^Rewrote userContext\.topOfMind\.\n$/],
    [["memory", "undo"], /^Took back /],
    [["run", "Which bird wades?", "--thread", "birds"], /\S/],
    [["keys", "list"], /^$/],
  ];
  for (const [args, stdout] of steps) {
    const { code, stdout: printed, stderr } = await at.remote(...args);
    assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
    assert.match(printed, stdout, args.join(" "));
  }
  const { document } = await at.json("threads");
  assert.deepEqual((document["threads"] as { id: string }[]).map(({ id }) => id).toSorted(), ["birds", "more"]);
  const answer = JSON.parse((await at.remote("run", "And then?", "--continue", "--json")).stdout);
  assert.equal(answer.thread, "birds");
});

test("what goes wrong there is told as it is here, with the same exit codes", async (t) => {
  const at = await served(t);
  const missing = await at.remote("view", "none", "--json");
  assert.deepEqual([missing.code, JSON.parse(missing.stdout).error.code], [1, "missing"]);
  const nothing = await at.remote("undo", "birds", "--json");
  assert.deepEqual([nothing.code, JSON.parse(nothing.stdout).error.code], [1, "nothing-to-undo"]);
  for (const args of [
    ["doctor", "--server", at.url],
    ["threads", "--server", "ftp://x"],
    ["threads", "--server", "http://me:secret@127.0.0.1"],
    ["threads", "--server", at.url, "--home", at.home],
    ["run", "hi", "--server", at.url, "--window", "4000"],
    ["threads", "--server", at.url, "--sizes"],
    ["threads", "delete", "*", "--server", at.url],
  ])
    assert.equal((await palimpsest(args)).code, 2, args.join(" "));
  const gone = await palimpsest(["threads", "--json", "--server", "http://127.0.0.1:1"]);
  assert.deepEqual([gone.code, JSON.parse(gone.stdout).error.code], [1, "unreachable"]);
});

test("the environment names a gateway and its key, and what is on the command line wins", async (t) => {
  const at = await served(t);
  const { document } = await at.json("keys", "create", "--user", "default");
  const env = { PALIMPSEST_SERVER: at.url, PALIMPSEST_KEY: String(document["key"]) };
  assert.equal((await at.remote("threads")).code, 1, "a key is needed from now on");
  const listed = await palimpsest(["threads", "--json"], env);
  assert.equal(JSON.parse(listed.stdout).threads[0].id, "birds");
  const other = await palimpsest(["threads", "--json", "--home", at.file("another")], env);
  assert.deepEqual(JSON.parse(other.stdout), { threads: [] });
  const refused = await palimpsest(["threads", "--user", "ada", "--json"], env);
  assert.equal(JSON.parse(refused.stdout).error.code, "not-your-user");
  const local = await palimpsest(["completion", "bash"], env);
  assert.match(local.stderr, /works on a home of this machine/);
});
