// Builds the page into static files whose names carry a hash of their content: `index.html` and what it loads. Nothing in
// them comes from elsewhere, and nothing of a script or a style stands in the HTML itself (the page's CSP forbids both).
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const source = join(dirname(fileURLToPath(import.meta.url)), "src");

/**
 * The views that are fetched later reach all that the page begins with, so esbuild writes the beginning as one file instead
 * of two: one request less, and smaller compressed. It runs once, as the page begins.
 */
const oneBeginning = {
  name: "one-beginning",
  setup({ onLoad }) {
    onLoad({ filter: /opened-later\.ts$/ }, ({ path }) => ({
      contents: `import "../main.tsx";${readFileSync(path, "utf8")}`,
      loader: "ts",
    }));
  },
};

/** Made by that as well: a script that only loads the beginning, and the styles once more. */
const UNUSED = /^(?:main-\w+\.js|opened-later-\w+\.css)$/;

/** Old files go first: the folder is the page's own. */
export async function buildPage(folder) {
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: { main: join(source, "main.tsx"), icon: join(source, "theme", "icon.svg") },
    outdir: join(folder, "assets"),
    entryNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    splitting: true,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    conditions: ["palimpsest-source"],
    loader: { ".svg": "copy" },
    legalComments: "none",
    metafile: true,
    plugins: [oneBeginning],
  });
  const names = Object.keys(metafile.outputs).map((path) => basename(path));
  for (const name of names) if (UNUSED.test(name)) rmSync(join(folder, "assets", name));
  const named = (start, end) => names.find((name) => name.startsWith(start) && name.endsWith(end));
  const html = readFileSync(join(source, "index.html"), "utf8")
    .replace("ICON", `/assets/${named("icon-", ".svg")}`)
    .replace("STYLE", `/assets/${named("main-", ".css")}`)
    .replace("SCRIPT", `/assets/${named("chunk-", ".js")}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "index.html"), html);
}
