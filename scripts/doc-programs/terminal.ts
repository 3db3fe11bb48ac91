/**
 * A reader's terminal: one shell per page, in a home of its own, with the commands of this clone on its path. A line that
 * starts a server goes to the background, as in a second terminal, and the page goes on when the server says its address.
 */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { FILES, type Reader } from "./reader.ts";

interface Answer {
  readonly code: number;
  /** Standard output alone: what a page may show. */
  readonly stdout: string;
  readonly stderr: string;
}

const SERVER = /^(?:npx )?palimpsest (?:serve|studio)\b/;
/** Where a page expects the gateway: the default port, which a test must leave alone. */
const ADDRESS = "127.0.0.1:8790";
/** `...` stands for anything, `0b8c...` for one word. */
const CUT = /[\w-]*\.\.\./g;
const SECONDS = 120;

export class Terminal implements AsyncDisposable {
  readonly #home = realpathSync(mkdtempSync(join(tmpdir(), "palimpsest-page-")));
  readonly #shell: ReturnType<typeof spawnShell>;
  readonly #port: number;
  readonly #placeholders = new Map<string, string>();
  #count = 0;
  #servers = 0;

  constructor(root: string, port: number, reader: Reader) {
    this.#port = port;
    const bin = join(this.#home, ".bin");
    mkdirSync(bin);
    const binary = join(root, "packages", "cli", "bin", "palimpsest.js");
    const node = `exec ${quoted(process.execPath)}`;
    const programs = {
      palimpsest: `${node} --conditions=palimpsest-source ${quoted(binary)} "$@"`,
      npx: `case "$1" in palimpsest) shift; exec palimpsest "$@";; node) shift; cd ${quoted(root)}; ${node} "$@";; *) exit 127;; esac`,
      "xdg-open": "exit 0",
    };
    for (const [name, text] of Object.entries(programs)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(bin, name), 0o755);
    }
    for (const name of reader.files ?? []) {
      mkdirSync(dirname(join(this.#home, name)), { recursive: true });
      writeFileSync(join(this.#home, name), FILES[name]);
    }
    this.#shell = spawnShell(this.#home, bin);
  }

  /** Types one command of a page and waits for its prompt. */
  async type(text: string): Promise<Answer> {
    let typed = this.#onOwnPort(text);
    for (const [shown, real] of this.#placeholders) typed = typed.replaceAll(shown, real);
    return SERVER.test(typed) ? this.#serve(typed) : this.#run(typed);
  }

  /** Whether it printed what the page shows, where `...` stands for anything; words cut so mean the printed one later on. */
  isAsShown(stdout: string, shown: readonly string[]): boolean {
    const page = this.#onOwnPort(shown.join("\n"));
    const cut = [...page.matchAll(CUT)].map(([word]) => word);
    const [first, ...rest] = page.split(CUT).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const between = rest.map((part, index) => (cut[index] === "..." ? `([\\s\\S]*?)${part}` : `([\\w-]+)${part}`));
    const found = new RegExp(`^${first}${between.join("")}\\s*$`).exec(stdout);
    for (const [index, word] of cut.entries())
      if (found && word !== "..." && !this.#placeholders.has(word)) this.#placeholders.set(word, found[index + 1]!);
    return found !== null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run("kill $(jobs -p) 2>/dev/null; wait; true");
    this.#shell.child.stdin.end("exit\n");
    await this.#shell.ended;
    rmSync(this.#home, { recursive: true, force: true });
  }

  #onOwnPort(text: string): string {
    return text.replaceAll(ADDRESS, `127.0.0.1:${this.#port}`);
  }

  async #run(text: string): Promise<Answer> {
    const [out, err] = [join(this.#home, ".bin", "out"), join(this.#home, ".bin", "err")];
    const mark = `prompt-${++this.#count}-`;
    // The braces stand on lines of their own: a command may end in a comment or in the last line of a document.
    const script = `{\n${text}\n} </dev/null >${quoted(out)} 2>${quoted(err)}\necho ${mark}$?\n`;
    const code = await this.#shell.until(script, new RegExp(`${mark}(\\d+)\n`), SECONDS);
    return { code: Number(code), stdout: await readFile(out, "utf8"), stderr: await readFile(err, "utf8") };
  }

  async #serve(text: string): Promise<Answer> {
    const command = `${text.replace(/\s+#.*$/, "")} --port ${this.#port}`;
    const file = join(this.#home, ".bin", `server-${++this.#servers}`);
    // The one before it ends as with Ctrl-C, since the port is the same.
    await this.#run(`kill $(jobs -p) 2>/dev/null\nwait\n${command} </dev/null >${quoted(file)} 2>&1 &`);
    const isUp = `for i in $(seq 600); do grep -q ' is at http' ${quoted(file)} && exit_code=0 && break; exit_code=1; kill -0 $! 2>/dev/null || break; sleep 0.1; done; (exit $exit_code)`;
    const { code } = await this.#run(isUp);
    const stdout = await readFile(file, "utf8");
    return { code, stdout, stderr: code === 0 ? "" : stdout };
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function spawnShell(home: string, bin: string) {
  const env = {
    PATH: `${bin}:${process.env["PATH"]}`,
    HOME: home,
    TMPDIR: tmpdir(),
    LANG: "C.UTF-8",
    npm_config_update_notifier: "false",
  };
  const child = spawn("bash", ["--norc", "--noprofile"], { cwd: home, env, stdio: ["pipe", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const until = (script: string, prompt: RegExp, seconds: number) =>
    new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no prompt after ${seconds} s: ${script}`)), seconds * 1000);
      const look = () => {
        const found = prompt.exec(printed);
        if (found === null) return;
        clearTimeout(timer);
        child.stdout.off("data", look);
        resolve(found[1]!);
      };
      child.stdout.on("data", look);
      child.stdin.write(script);
    });
  return { child, ended, until };
}
