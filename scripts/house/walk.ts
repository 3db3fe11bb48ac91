/**
 * What one act passes on its way through the sources: the files of which a function ran, and the lines of those functions.
 * Each act is a call of the command with the offline model, in this checkout or in another one. It is done once before, so
 * that nothing is counted that only loads, and then under V8's coverage. Prints JSON, with `--files` every file too.
 * `node --conditions=palimpsest-source scripts/house/walk.ts [CHECKOUT] [--files]`
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const args = process.argv.slice(2).filter((arg) => arg !== "--files");
const checkout = resolve(args[0] ?? fileURLToPath(new URL("../..", import.meta.url)));
const SOURCES = `${pathToFileURL(join(checkout, "packages")).href}/`;
/** The model is no part of the way. */
const LEFT_OUT = "/models/offline/";

/** A file's path and how many lines of it ran. */
type Way = ReadonlyMap<string, number>;

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
const { main } = (await import(`${SOURCES}cli/src/main.ts`)) as { main(args: readonly string[]): Promise<number> };
const print = silenced();

/** With a second model, which nobody asks: where there is only the offline one, summaries are written by rules alone. */
const config = (triggerMessages: number, memory: boolean): string => `
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
const home = mkdtempSync(join(tmpdir(), "palimpsest-walk-"));
const turn = await wayOf(config(1000, false), () => say("a", 4));
const memory = await wayOf(config(1000, true), () => say("a", 1));
const search = await wayOf(config(1000, false), () => command("search", "a", "tide"));
await say("b", 4);
await say("c", 4);
// "b" loads what the compaction of "c" runs.
const compaction = await wayOf(config(9, false), async (measured) => say(measured ? "c" : "b", 1));
rmSync(home, { recursive: true });
print(
  JSON.stringify(
    {
      "a turn": sizeOf(turn),
      "a turn that compacts": sizeOf(compaction),
      "a memory update, beyond its turn": sizeOf(beyond(memory, turn)),
      "a search": sizeOf(search),
    },
    null,
    1,
  ),
);

/** The act once without and once with coverage; between the two whatever was counted is thrown away. */
async function wayOf(settings: string, act: (measured: boolean) => Promise<void>): Promise<Way> {
  writeFileSync(join(home, "config.yaml"), settings);
  await act(false);
  await session.post("Profiler.takePreciseCoverage");
  await act(true);
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const way = new Map<string, number>();
  for (const { url, functions } of result) {
    if (!url.startsWith(SOURCES) || url.includes(LEFT_OUT)) continue;
    const lines = linesRun(readFileSync(fileURLToPath(url), "utf8"), functions);
    if (lines > 0) way.set(url.slice(SOURCES.length), lines);
  }
  return way;
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** Lines of functions that ran, without those of functions inside them that didn't, and without blank ones. */
function linesRun(text: string, functions: readonly { readonly ranges: readonly Range[] }[]): number {
  const ranges = functions
    .map((one) => one.ranges[0]!)
    // The outermost is the module itself.
    .filter(({ startOffset }) => startOffset > 0)
    .sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const ran = new Set<number>();
  const starts = lineStarts(text);
  for (const { startOffset, endOffset, count } of ranges) {
    for (let line = lineAt(starts, startOffset); line <= lineAt(starts, endOffset); line += 1) {
      if (count > 0) ran.add(line);
      else if (starts[line]! > startOffset) ran.delete(line);
    }
  }
  const lines = text.split("\n");
  return [...ran].filter((line) => lines[line]!.trim() !== "").length;
}

function lineStarts(text: string): number[] {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

function lineAt(starts: readonly number[], offset: number): number {
  const next = starts.findIndex((start) => start > offset);
  return (next === -1 ? starts.length : next) - 1;
}

function beyond(way: Way, other: Way): Way {
  return new Map([...way].filter(([path]) => !other.has(path)));
}

function sizeOf(way: Way) {
  const lines = [...way.values()].reduce((total, one) => total + one, 0);
  const list = process.argv.includes("--files") ? { list: Object.fromEntries([...way].sort()) } : {};
  return { files: way.size, lines, ...list };
}

async function say(threadId: string, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1)
    await command("run", "I keep my boat at the old pier. When does the tide turn?", "--thread", threadId);
}

async function command(...words: string[]): Promise<void> {
  const code = await main(["--home", home, ...words]);
  if (code !== 0) throw new Error(`palimpsest ${words.join(" ")} ended with ${code}`);
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
  stdout.write = quiet as typeof stdout.write;
  stderr.write = quiet as typeof stderr.write;
  return (text) => write(`${text}\n`);
}
