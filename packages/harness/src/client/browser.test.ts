import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

test("palimpsest/client bundles for a browser, with nothing of Node and nobody else's code", async (t) => {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL("./index.ts", import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: "browser",
    format: "esm",
    conditions: ["palimpsest-source"],
  });
  const inputs = Object.keys(metafile.inputs);
  assert.deepEqual(
    inputs.filter((path) => path.includes("node_modules")),
    [],
  );
  t.diagnostic(`${outputFiles[0]!.contents.length} bytes minified, ${inputs.length} files`);
  assert.ok(outputFiles[0]!.contents.length < 12_000);
});
