import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";

test("palimpsest/messages bundles for a browser and runs without a single global of Node or the web", async (t) => {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL("./index.ts", import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: "browser",
    format: "iife",
    globalName: "palimpsest",
    conditions: ["palimpsest-source"],
  });
  const inputs = Object.keys(metafile.inputs);
  assert.deepEqual(
    inputs.filter((path) => path.includes("node_modules")),
    [],
  );
  const [bundle] = outputFiles;
  t.diagnostic(`${Math.round(bundle!.contents.length / 1000)} kB minified, ${inputs.length} files`);

  const context = createContext({});
  runInContext(bundle!.text, context);
  const answer = await runInContext(PROGRAM, context);
  assert.deepEqual(JSON.parse(answer), { kind: "compacted", last: "Question 119?", rung: "extract" });
});

const PROGRAM = `(async () => {
  const said = Array.from({ length: 120 }, (_, n) => ({ role: n % 2 ? "user" : "assistant", content: "The tide comes in. ".repeat(20) }));
  said.push({ role: "user", content: "Question 119?" });
  const { messages, outcome } = await palimpsest.compactMessages(said, { window: 4000 });
  return JSON.stringify({ kind: outcome.kind, last: messages.at(-1).content, rung: outcome.rung });
})()`;
