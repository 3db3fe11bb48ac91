// Emits every package's dist with plain tsc, in the order of the arrows. Old output goes first: a file that no longer
// has a source must not be published.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPage } from "../packages/inspector/build.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");

// The client's types are made from the gateway's routes, before anything is compiled.
const routes = join(root, "scripts", "client-routes", "write.ts");
execFileSync(process.execPath, ["--conditions=palimpsest-source", routes], { stdio: "inherit" });
for (const name of [
  "core",
  "harness",
  "testing",
  "lab",
  "gateway",
  "adapters-langchain",
  "adapters-openai-agents",
  "cli",
]) {
  const folder = join(root, "packages", name);
  if (!existsSync(folder)) continue;
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  execFileSync(process.execPath, [tsc, "-p", join(folder, "tsconfig.build.json")], { stdio: "inherit" });
}
shipTokenizers();
// The page goes with the gateway, which serves it.
await buildPage(join(root, "packages", "gateway", "dist", "page"));

/** Two encodings of gpt-tokenizer are used: shipping them is a tenth of depending on the whole package. */
function shipTokenizers() {
  const from = join(root, "node_modules", "gpt-tokenizer");
  const to = join(root, "packages", "harness", "dist", "vendor", "gpt-tokenizer");
  const modules = new Set(["o200k_base", "cl100k_base"].map((name) => join(from, "esm", "encoding", `${name}.js`)));
  for (const path of modules) {
    const text = readFileSync(path, "utf8");
    for (const [, specifier] of text.matchAll(/(?:from|import) "(\.[^"]+)"/g))
      modules.add(join(dirname(path), specifier));
    const copy = join(to, path.slice(join(from, "esm").length));
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, text.replace(/\n\/\/# sourceMappingURL=.*$/, "\n"));
  }
  cpSync(join(from, "LICENSE"), join(to, "LICENSE"));
}
