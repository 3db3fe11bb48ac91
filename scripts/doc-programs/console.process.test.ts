// The `console` blocks of README and guides, run as pasted: each page in a home of its own, with the offline model, from top
// to bottom in one shell. Where a page shows what a command prints, it prints that.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { blocksIn, consolePages } from "./blocks.ts";
import { READERS } from "./reader.ts";
import { Terminal } from "./terminal.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const pages = consolePages(root);

test("a block is its commands, each with what is shown below it, documents and continued lines included", () => {
  const page = "<!-- not run: no -->\n```console\n$ a <<'E'\nx\nE\nout\n$ b \\\n  c\n```\n```ts\n$ d\n```\n";
  assert.deepEqual(blocksIn("p.md", page), [
    {
      place: "p.md:2",
      notRun: "no",
      commands: [
        { place: "p.md:3", text: "a <<'E'\nx\nE", shown: ["out"] },
        { place: "p.md:7", text: "b \\\n  c", shown: [] },
      ],
    },
  ]);
});

test("at most ten blocks aren't run, and each says why", () => {
  const marked = pages.flatMap(({ blocks }) => blocks.filter(({ notRun }) => notRun !== null));
  assert.ok(marked.length <= 10, marked.map(({ place, notRun }) => `${place} ${notRun}`).join("\n"));
});

for (const { name, blocks } of pages.filter((page) => page.blocks.some(({ notRun }) => notRun === null)))
  test(`the console blocks of ${name} run as pasted`, async () => {
    const reader = READERS[name] ?? {};
    await using terminal = new Terminal(root, await freePort(), reader);
    for (const threadId of reader.threads ?? []) await prepare(terminal, threadId);
    for (const { commands } of blocks.filter(({ notRun }) => notRun === null))
      for (const { place, text, shown } of commands) {
        const { code, stdout, stderr } = await terminal.type(text);
        assert.equal(code, 0, `${place}: ${text}\n${stdout}\n${stderr}`);
        if (/\bcurl\b/.test(text)) assert.doesNotMatch(stdout, /"error"/, `${place}: ${text}\n${stdout.slice(-2000)}`);
        if (shown.length > 0)
          assert.ok(
            terminal.isAsShown(stdout, shown),
            `${place} shows\n${shown.join("\n")}\nand it printed\n${stdout}`,
          );
      }
  });

/** A thread of a few turns, with something to find, to hide and to erase. */
async function prepare(terminal: Terminal, threadId: string): Promise<void> {
  const lines = Array.from({ length: 12 }, (_, turn) => [
    JSON.stringify({ role: "user", content: `Question ${turn} about the login page: which river runs there?` }),
    JSON.stringify({ role: "assistant", content: `Answer ${turn}: the Danube, and the page is blue.` }),
  ]).flat();
  const { code, stderr } = await terminal.type(
    `cat > .prepared.jsonl <<'END'\n${lines.join("\n")}\nEND\npalimpsest import .prepared.jsonl --thread ${threadId}`,
  );
  assert.equal(code, 0, stderr);
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
