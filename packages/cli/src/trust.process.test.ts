// What a directory that isn't the person's own may do, through the real binary: a stranger's configuration, a stranger's home.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { desk, type Ended, palimpsest } from "../test/binary.ts";
import { openTerminal } from "../test/terminal.ts";

const HUGO = "title: My Blog\nbaseURL: https://example.org/\nlanguageCode: en-us\n";

test("another program's config.yaml in the working directory or above is neither obeyed nor complained about", async (t) => {
  const at = place(t);
  writeFileSync(join(at.project, "config.yaml"), HUGO);
  assert.deepEqual(await at.run("threads", "--json"), { code: 0, stdout: '{\n  "threads": []\n}\n', stderr: "" });
  const checked = await at.run("config", "check");
  assert.deepEqual([checked.code, checked.stdout], [0, "No config.yaml: the defaults are used.\n"]);
});

test("a stranger's configuration loads no code until exactly its content is trusted", async (t) => {
  const at = place(t);
  const ran = join(at.project, "ran");
  const evil = join(at.project, "evil.mjs");
  writeFileSync(
    evil,
    `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(ran)}, "");\nexport class Store { load() {} reload() {} save() {} }\n`,
  );
  const config = join(at.project, "config.yaml");
  writeFileSync(config, `memory: { storage_class: ${evil}#Store }\n`);
  for (const command of [["memory", "show"], ["run", "hi"], ["threads"]]) {
    const { code, stderr } = await at.run(...command);
    assert.equal(code, 1);
    assert.match(stderr, /run the code of .*evil\.mjs#Store.*"palimpsest trust .*config\.yaml"/);
    assert.ok(!existsSync(ran), command.join(" "));
  }
  assert.equal((await at.json("memory", "show"))["error"]?.["code"], "untrusted");
  const { trust } = await at.json("trust", "--dry-run");
  assert.deepEqual(
    trust.map(({ kind, was, allows }) => [kind, was, allows.map(({ key }) => key)]),
    [["config", "unknown", ["memory.storage_class"]]],
  );
  assert.equal((await at.run("trust", config)).code, 0);
  assert.equal((await at.run("memory", "show")).code, 0);
  assert.ok(existsSync(ran));
  rmSync(ran);
  writeFileSync(evil, `${readFileSync(evil, "utf8")}// another content\n`);
  assert.match((await at.run("memory", "show")).stderr, /has changed since you trusted it/);
  assert.equal((await at.run("trust")).code, 0);
  writeFileSync(config, `${readFileSync(config, "utf8")}# a comment\n`);
  assert.match((await at.run("memory", "show")).stderr, /has changed since you trusted it/);
  assert.equal((await at.run("trust")).code, 0);
  assert.equal((await at.run("memory", "show")).code, 0);
  assert.equal((await at.run("trust", "--remove")).code, 0);
  assert.equal((await at.run("memory", "show")).code, 1);
});

test("a stranger's configuration says nothing to the account of a key that stands in it, and the dry run lists it", async (t) => {
  const at = place(t);
  const model = "{ name: a, provider: openai, model: m, api_key: sk-theirs }";
  const embedder = "{ provider: openai, model: e, api_key: sk-theirs }";
  writeFileSync(join(at.project, "config.yaml"), `models: [${model}]\nrecall: { embedder: ${embedder} }\n`);
  assert.equal((await at.json("run", "hi"))["error"]?.["code"], "untrusted");
  const { trust } = await at.json("trust", "--dry-run");
  const keys = trust.flatMap(({ allows }) => allows.map(({ key }) => key));
  assert.deepEqual(keys, ["models.0.api_key", "recall.embedder.api_key"]);
  assert.doesNotMatch(JSON.stringify(trust), /sk-theirs/);
});

test("a stranger's configuration sends no key to an address it names; one named by --config or PALIMPSEST_CONFIG does", async (t) => {
  const at = place(t);
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization);
    response.writeHead(401).end();
  });
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const model = `{ name: a, provider: openai, model: m, base_url: "http://127.0.0.1:${port}/v1" }`;
  const config = join(at.project, "config.yaml");
  writeFileSync(config, `models: [${model}]\nmemory: { enabled: false }\n`);
  const env = { OPENAI_API_KEY: "sk-victim" };
  const refused = await at.with(env).run("run", "hello");
  assert.match(refused.stderr, /send your \$OPENAI_API_KEY.* to http:\/\/127\.0\.0\.1/);
  assert.deepEqual([refused.code, keys], [1, []]);
  const stop = { ...env, PALIMPSEST_CONFIG: config };
  await Promise.all([at.with(env).run("run", "hello", "--config", config), at.with(stop).run("run", "hello")]);
  assert.ok(keys.includes("Bearer sk-victim"));
});

test("a home that was found with its threads and skills is a stranger's; one we made is the person's own", async (t) => {
  const at = place(t);
  const home = join(at.project, ".palimpsest");
  assert.equal((await at.run("run", "I live in Oslo.", "--thread", "a", "--home", ".palimpsest")).code, 0);
  assert.match((await at.run("threads")).stdout, /^a /m, "made by us");
  assert.equal(readFileSync(join(home, ".gitignore"), "utf8"), "*\n");
  // As a clone would bring it: the same files in a directory that was not noted.
  rmSync(join(at.state, "palimpsest", "made"), { recursive: true });
  for (const command of [["threads"], ["run", "hello"], ["search", "a", "Oslo"], ["memory", "show"]]) {
    const { code, stderr } = await at.run(...command);
    assert.equal(code, 1);
    assert.match(stderr, /\.palimpsest was found here and is not known to be yours/, command.join(" "));
  }
  const doctor = await at.run("doctor");
  assert.match(doctor.stdout, /BAD {2}home: .*the nearest \.palimpsest.*palimpsest trust/);
  assert.equal((await at.run("threads", "--home", ".palimpsest")).code, 0, "named");
  assert.equal((await at.run("trust")).code, 0);
  assert.equal((await at.run("run", "hello", "--thread", "a")).code, 0, "trusted, and still after it was written to");
  assert.equal((await at.run("threads")).code, 0);
  mkdirSync(join(home, "skills", "deploy"), { recursive: true });
  writeFileSync(join(home, "skills", "deploy", "SKILL.md"), "---\nname: deploy\ndescription: d\n---\ndo it\n");
  assert.match((await at.run("threads")).stderr, /has changed since you trusted it.*the skill "deploy"/);
});

test("a trusted home whose database is made later stays trusted; a replaced database is asked about", async (t) => {
  const at = place(t);
  const home = join(at.project, ".palimpsest");
  mkdirSync(home);
  assert.equal((await at.run("trust")).code, 0);
  assert.equal((await at.run("run", "hello")).code, 0);
  assert.equal((await at.run("threads")).code, 0);
  const database = join(home, "palimpsest.db");
  const bytes = readFileSync(database);
  rmSync(database);
  writeFileSync(database, bytes);
  assert.match((await at.run("threads")).stderr, /has changed since you trusted it/);
});

test("without a home above, one per user is made, for them alone, and doctor says which and why", async (t) => {
  const at = place(t);
  assert.equal((await at.run("run", "hello", "--thread", "a")).code, 0);
  const home = join(at.data, "palimpsest");
  assert.equal(statSync(home).mode & 0o777, 0o700);
  assert.ok(!existsSync(join(at.project, ".palimpsest")));
  const { stdout } = await at.run("doctor");
  assert.ok(stdout.includes(`ok   home: ${home} (your own`), stdout);
  writeFileSync(join(home, "config.yaml"), "workspace: { host_bash: true }\n");
  assert.match((await at.run("doctor")).stdout, /ok {3}config: .*config\.yaml \(the home's\)/);
  assert.equal((await at.run("run", "hello", "--home", "")).code, 2);
});

test("in a terminal the person is asked, sees what it would do, and a yes is remembered", async (t) => {
  const at = place(t);
  writeFileSync(join(at.project, "config.yaml"), "workspace: { host_bash: true }\n");
  const seat = { home: at.home, cwd: at.project, env: at.env };
  const no = openTerminal(t, seat, "chat");
  await no.until(/run shell commands on this machine[\s\S]*Trust it as it is now\? \[y\/N\]/);
  no.type("\r");
  assert.equal(await no.exit(), 1);
  const yes = openTerminal(t, seat, "chat");
  await yes.until(/Trust it as it is now/);
  yes.type("y\r");
  await yes.until(/palimpsest · /);
  const again = openTerminal(t, seat, "chat");
  await again.until(/palimpsest · /);
  assert.doesNotMatch(again.screen(), /Trust it/);
});

test("what belongs to another user of the machine is refused, trusted or not", {
  skip: process.getuid?.() !== 0 && "only root can give files away",
}, async (t) => {
  const at = place(t);
  const config = join(at.project, "config.yaml");
  writeFileSync(config, "memory: { enabled: false }\n");
  const { chownSync } = await import("node:fs");
  chownSync(config, 12345, 12345);
  assert.match((await at.run("run", "hi")).stderr, /belongs to another user of this machine/);
  assert.equal((await at.run("trust")).code, 1);
  assert.equal((await at.run("run", "hi", "--config", config)).code, 0);
});

interface Shown {
  readonly error?: Readonly<Record<string, unknown>>;
  readonly trust: readonly {
    readonly kind: string;
    readonly was: string;
    readonly allows: readonly { readonly key: string }[];
  }[];
}

/** A working directory, and a person with folders of their own who names no home. */
function place(t: TestContext) {
  const at = desk(t);
  const [project, data, state] = ["project", "data", "state"].map((name) => at.file(name)) as [string, string, string];
  mkdirSync(project);
  const env = { XDG_DATA_HOME: data, XDG_STATE_HOME: state };
  const as = (more: Readonly<Record<string, string>>) => ({
    run: (...args: readonly string[]): Promise<Ended> => palimpsest(args, { ...env, ...more }, [], null, project),
  });
  return {
    project,
    data,
    state,
    env,
    home: at.home,
    with: as,
    run: as({}).run,
    async json(...args: readonly string[]): Promise<Shown> {
      return JSON.parse((await as({}).run(...args, "--json")).stdout);
    },
  };
}

test("an empty home that was found here says that the person's own has threads, and so does a thread it lacks", async (t) => {
  const { run } = place(t);
  assert.equal((await run("run", "I live in Oslo.", "--thread", "rivers")).code, 0);
  assert.equal((await run("memory", "add", "It rains.", "--home", ".palimpsest")).code, 0);
  const threads = await run("threads");
  assert.equal(threads.code, 0, threads.stderr);
  assert.match(
    threads.stderr,
    /No threads in .*project.\.palimpsest yet\. .* stands before your own home, .*, which has 1 thread:/,
  );
  const missing = await run("view", "rivers");
  assert.match(missing.stderr, /There is no thread "rivers".* which has 1 thread: --home \S+ names that one/s);
});
