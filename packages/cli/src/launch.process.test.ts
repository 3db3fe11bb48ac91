// What the binary does in a clone before anything of ours is loaded.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../bin", import.meta.url));

test("studio builds the page of a clone that has none, once, and other commands don't", (t) => {
  const { said, page } = clone(t);
  assert.equal(said("threads"), "ran threads\n");
  assert.equal(said("studio", "--help"), "ran studio,--help\n");
  assert.ok(!existsSync(page));
  assert.equal(said("studio"), "ran studio\n");
  assert.ok(existsSync(page));
  rmSync(join(page, "..", "built-once"));
  assert.equal(said("studio"), "ran studio\n");
  assert.ok(!existsSync(join(page, "..", "built-once")));
});

/** An unbuilt clone whose command and build only record that they ran. */
function clone(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "palimpsest-clone-"));
  t.after(() => rmSync(root, { recursive: true }));
  const cli = join(root, "packages", "cli");
  cpSync(BIN, join(cli, "bin"), { recursive: true });
  mkdirSync(join(cli, "src"));
  writeFileSync(join(cli, "src", "main.ts"), 'export const main = (args) => void console.log("ran", args.join());\n');
  const exported = { ".": { "palimpsest-source": "./src/main.ts", default: "./dist/main.js" } };
  writeFileSync(join(cli, "package.json"), json({ name: "@palimpsest/cli", type: "module", exports: exported }));
  writeFileSync(join(root, "package.json"), json({ scripts: { page: "node build.cjs" } }));
  const page = join(root, "packages", "gateway", "dist", "page", "index.html");
  const traces = [page, join(page, "..", "built-once")].map((path) => `fs.writeFileSync(${json(path)}, "");`).join("");
  const build = `const fs = require("fs"); fs.mkdirSync(${json(join(page, ".."))}, { recursive: true }); ${traces}`;
  writeFileSync(join(root, "build.cjs"), build);
  const said = (...args: string[]) =>
    execFileSync(process.execPath, [join(cli, "bin", "palimpsest.js"), ...args], { encoding: "utf8", stdio: "pipe" });
  return { said, page };
}

function json(value: unknown): string {
  return JSON.stringify(value);
}
