/** Runs the real `palimpsest` binary in a child process, on homes and files that vanish with the test. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

export const BINARY = fileURLToPath(new URL("../bin/palimpsest.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Desk {
  readonly home: string;
  /** A path in the temporary directory; with content it is written. */
  file(name: string, content?: string | Uint8Array): string;
  run(...args: readonly string[]): Promise<Ended>;
  /** The same, for a test that has something to do meanwhile. */
  start(...args: readonly string[]): Started;
  /** Runs with these lines on its standard input. */
  piped(lines: readonly string[], ...args: readonly string[]): Promise<Ended>;
  /** Runs with `--json` and returns the document and the exit code. */
  json(...args: readonly string[]): Promise<{ readonly code: number | null; readonly document: Document }>;
}

/** What a command printed; tests say themselves what they expect in it. */
export type Document = Readonly<Record<string, unknown>>;

export function desk(t: TestContext): Desk {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-cli-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, "home");
  const run = (...args: readonly string[]) => palimpsest(args, { PALIMPSEST_HOME: home });
  return {
    home,
    file(name, content) {
      const path = join(folder, name);
      if (content !== undefined) writeFileSync(path, content);
      return path;
    },
    run,
    start: (...args) => startPalimpsest(args, { env: { PALIMPSEST_HOME: home } }),
    piped: (lines, ...args) =>
      palimpsest(args, { PALIMPSEST_HOME: home }, [], lines.map((line) => `${line}\n`).join("")),
    async json(...args) {
      const { code, stdout, stderr } = await run(...args, "--json");
      try {
        return { code, document: JSON.parse(stdout) };
      } catch {
        throw new Error(`stdout is not one JSON document: ${JSON.stringify(stdout)}; stderr: ${stderr}`);
      }
    },
  };
}

export function palimpsest(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  nodeOptions: readonly string[] = [],
  input: string | null = null,
  cwd = process.cwd(),
): Promise<Ended> {
  return startPalimpsest(args, { env, nodeOptions, input, cwd }).ended;
}

interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
  readonly input?: string | null;
  readonly cwd?: string;
}

export interface Started {
  readonly ended: Promise<Ended>;
  /** Resolves once this stands on its standard error; rejects if it ends without. */
  told(pattern: RegExp): Promise<void>;
}

function startPalimpsest(args: readonly string[], options: StartOptions): Started {
  const { env = {}, nodeOptions = [], input = null, cwd = process.cwd() } = options;
  const child = spawn(process.execPath, ["--conditions=palimpsest-source", ...nodeOptions, BINARY, ...args], {
    cwd,
    env: { ...CLEAN, ...env },
    stdio: [input === null ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.end(input);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString();
  child.stdout!.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr!.on("data", (chunk: Buffer) => stderr.push(chunk));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout: text(stdout), stderr: text(stderr) }));
  });
  return {
    ended,
    told: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => pattern.test(text(stderr)) && resolve();
        child.stderr!.on("data", look);
        look();
        ended.then(({ stderr }) => reject(new Error(`it ended without ${pattern}: ${stderr}`)), reject);
      }),
  };
}

const person = mkdtempSync(join(tmpdir(), "palimpsest-person-"));
process.once("exit", () => rmSync(person, { recursive: true, force: true }));

const {
  PATH = "",
  PALIMPSEST_TEST_RUN,
  NODE_COMPILE_CACHE = fileURLToPath(new URL("../../../node_modules/.cache/tests", import.meta.url)),
} = process.env;
/**
 * Nothing of the tester's own settings, and no word in their folders: a home of its own, compiled code where that of test
 * files is. With the mark by which a process that was left behind is found.
 */
export const CLEAN: Readonly<Record<string, string>> = {
  PATH,
  HOME: person,
  NODE_COMPILE_CACHE,
  ...(PALIMPSEST_TEST_RUN !== undefined && { PALIMPSEST_TEST_RUN }),
};
