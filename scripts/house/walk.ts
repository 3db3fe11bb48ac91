/**
 * What one act passes on its way through the sources: the files of which a function ran, how often the way comes back to a
 * folder that it had left, and the lines of the functions that ran. Each act is done once before it is traced, so that
 * nothing is counted that only loads. The offline model, fakes and tests are no part of a way. Prints JSON; with `--files`
 * each way too, in the order of first visits. Another checkout needs its own dependencies.
 * `node --conditions=palimpsest-source scripts/house/walk.ts [CHECKOUT] [--files]`
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { functions, instrument, type TracedFunction, traced } from "./trace.ts";

const args = process.argv.slice(2).filter((arg) => arg !== "--files");
const checkout = resolve(args[0] ?? fileURLToPath(new URL("../..", import.meta.url)));
const packages = join(checkout, "packages");
instrument(`${pathToFileURL(packages).href}/`);
/** No part of a way. How an answer is played is one: the scripted model of programs' own tests speaks through it too. */
const LEFT_OUT = /\/models\/offline\/(?!played-answer)|^testing\/|^[^/]+\/test\//;

interface Way {
  readonly files: number;
  readonly folders: number;
  /** How often the way comes back to a folder that it had left, counting each file where it is first visited. */
  readonly returns: number;
  /** Lines of the functions that ran, without blank ones and without functions inside them that didn't run. */
  readonly lines: number;
  readonly list?: readonly string[];
}

const ways: Record<string, Way> = {};
const print = silenced();
const home = mkdtempSync(join(tmpdir(), "palimpsest-walk-"));
await walkCommand();
await walkLibrary();
await walkGateway();
rmSync(home, { recursive: true });
print(JSON.stringify(ways, null, 1));
// Connections that are kept alive would hold the process.
process.exit(0);

/** With a second model, which is not called: where there is only the offline one, summaries are written by rules alone. */
function config(triggerMessages: number, memory: boolean): string {
  return `
models:
  - { name: main, provider: offline, model: offline }
  - { name: other, provider: openai-compatible, model: none, base_url: "http://127.0.0.1:9/v1" }
memory: { enabled: ${memory} }
summarization:
  enabled: true
  model_name: main
  trigger: { type: messages, value: ${triggerMessages} }
  keep: { type: messages, value: 4 }
`;
}

async function walkCommand(): Promise<void> {
  const { main } = await load<{ main(args: readonly string[]): Promise<number> }>("@palimpsest/cli");
  const command = async (...words: string[]): Promise<void> => {
    const code = await main(["--home", home, ...words]);
    if (code !== 0) throw new Error(`palimpsest ${words.join(" ")} ended with ${code}`);
  };
  const say = async (threadId: string, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1)
      await command("run", "I keep my boat at the old pier. When does the tide turn?", "--thread", threadId);
  };
  configure(config(1000, false));
  await say("a", 4);
  await way("run", () => say("a", 1));
  configure(config(1000, true));
  await way("run with memory", () => say("a", 1));
  configure(config(1000, false));
  await way("search", () => command("search", "a", "tide"));
  await way("context", () => command("context", "a"));
  await say("b", 4);
  await say("c", 4);
  configure(config(9, false));
  // "b" loads what the compaction of "c" runs.
  await way("run, compacting", (measured) => say(measured ? "c" : "b", 1));
}

async function walkLibrary(): Promise<void> {
  interface Agent {
    generate(input: { threadId: string; prompt: string }): Promise<unknown>;
    close(): Promise<void>;
  }
  interface Opened {
    agent(): Promise<{ readonly agent: Agent }>;
    close(): Promise<void>;
  }
  const { openHome } = await load<{ openHome(options: object): Promise<Opened> }>("palimpsest/home");
  const open = () => openHome({ home, cwd: home, env: {} });
  configure(config(1000, false));
  await way("openHome", async () => (await open()).close());
  const { createAgent } = await load<{ createAgent(options: object): Agent }>("palimpsest");
  const { offlineModel } = await load<{ offlineModel(): object }>("palimpsest/models");
  const agent = createAgent({ model: offlineModel() });
  for (let turn = 0; turn < 3; turn += 1) await agent.generate({ threadId: "x", prompt: "when does the tide turn?" });
  await way("library turn", async () => {
    await agent.generate({ threadId: "x", prompt: "hello again" });
  });
  await agent.close();
}

async function walkGateway(): Promise<void> {
  const closers: (() => Promise<void>)[] = [];
  const context = { after: (close: () => Promise<void>) => closers.unshift(close) };
  interface Served {
    readonly url: string;
  }
  const { beforeProvider } = (await import(join(packages, "gateway/test/before-provider.ts"))) as {
    beforeProvider(t: object, options: object): Promise<Served>;
  };
  const plain = await beforeProvider(context, { respond: () => "an answer" });
  const known = asker(plain.url, "question");
  for (let turn = 0; turn < 2; turn += 1) await known();
  ways["gateway request"] = await shortest(async () => (await tracedAnswer(known)).calls);
  const small = await beforeProvider(context, { window: 4000, respond: () => "word ".repeat(100) });
  // The second conversation does what the first one loaded.
  const compacting = async () => {
    const ask = asker(small.url, `tide ${"word ".repeat(60)}`);
    for (let turn = 0; turn < 40; turn += 1) {
      const { calls, view } = await tracedAnswer(ask);
      if (view !== "verbatim") return calls;
    }
    throw new Error("the gateway compacted nothing");
  };
  await compacting();
  ways["gateway request, compacting"] = await shortest(compacting);
  for (const close of closers) await close();
}

/** On a busy machine, work behind an earlier answer may run during a traced request. */
async function shortest(act: () => Promise<readonly TracedFunction[]>): Promise<Way> {
  const traces = [wayOf(await act()), wayOf(await act()), wayOf(await act())];
  return traces.reduce((best, trace) => (trace.files < best.files ? trace : best));
}

async function tracedAnswer(ask: () => Promise<string | null>) {
  let view: string | null = null;
  const calls = await traced(async () => {
    view = await ask();
  });
  return { calls, view: view as string | null };
}

/** Asks one more question of the same conversation, and says how the gateway sent it on. */
function asker(url: string, question: string): () => Promise<string | null> {
  const messages: object[] = [];
  return async () => {
    messages.push({ role: "user", content: `${question} ${messages.length} of ${url}` });
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer client" },
      body: JSON.stringify({ model: "gpt", messages }),
    });
    const { choices } = (await response.json()) as { readonly choices: readonly { readonly message: object }[] };
    messages.push(choices[0]!.message);
    return response.headers.get("x-palimpsest-view");
  };
}

async function way(name: string, act: (measured: boolean) => Promise<unknown>): Promise<void> {
  await act(false);
  ways[name] = wayOf(await traced(async () => void (await act(true))));
}

function wayOf(calls: readonly TracedFunction[]): Way {
  const ran = new Set(calls.filter(({ path }) => /^[^/]+\/src\//.test(path) && !LEFT_OUT.test(path)));
  const files = [...new Set([...ran].map(({ path }) => path))];
  const folders = files.map(folderOf);
  const visits = folders.filter((folder, index) => folder !== folders[index - 1]).length;
  const distinct = new Set(folders).size;
  const lines = files.reduce((total, path) => total + linesRun(path, ran), 0);
  const list = process.argv.includes("--files") ? { list: files } : {};
  return { files: files.length, folders: distinct, returns: visits - distinct, lines, ...list };
}

/** Each feature under `features` is a folder of its own. */
function folderOf(path: string): string {
  const [, owner, folder] = /^([^/]+)\/src\/((?:features\/)?[^/]+\/)?/.exec(path) ?? [];
  return `${owner}/${folder ?? "."}`;
}

function linesRun(path: string, ran: ReadonlySet<TracedFunction>): number {
  const text = readFileSync(join(packages, path), "utf8").split("\n");
  const lines = new Set<number>();
  // Outer functions come before those inside them.
  for (const one of functions.filter((entry) => entry.path === path)) {
    for (let line = one.from; line <= one.to; line += 1) {
      if (ran.has(one)) lines.add(line);
      else if (line > one.from) lines.delete(line);
    }
  }
  return [...lines].filter((line) => text[line - 1]!.trim() !== "").length;
}

function load<Module>(specifier: string): Promise<Module> {
  const path = createRequire(join(checkout, "package.json")).resolve(specifier);
  return import(pathToFileURL(path).href) as Promise<Module>;
}

function configure(settings: string): void {
  writeFileSync(join(home, "config.yaml"), settings);
}

/** What the command prints isn't wanted; what it waits for is. */
function silenced(): (text: string) => void {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  const quiet = (_text: unknown, ...rest: unknown[]): boolean => {
    const done = rest.at(-1);
    if (typeof done === "function") process.nextTick(done as () => void);
    return true;
  };
  stdout.write = quiet as typeof write;
  stderr.write = quiet as typeof write;
  return (text) => void write(`${text}\n`);
}
