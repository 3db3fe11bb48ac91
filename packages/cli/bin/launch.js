// What must happen before the rest is loaded. From a clone the sources run as they are when node is given
// `--conditions=palimpsest-source`; elsewhere what was built.
import { readFileSync } from "node:fs";
import module from "node:module";

const args = process.argv.slice(2);
// Scripts ask for the version often: nothing else is loaded for it.
if (args.includes("--version")) {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  process.stdout.write(`${version}\n`);
} else {
  module.enableCompileCache?.();
  silenceSqliteWarning();
  const { main } = await import("@palimpsest/cli");
  process.exitCode = await main(args);
}

// node:sqlite works and is tested here; that Node still calls it experimental helps nobody who reads a CLI's output.
function silenceSqliteWarning() {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    const type = typeof rest[0] === "object" ? rest[0]?.type : rest[0];
    const text = typeof warning === "string" ? warning : warning?.message;
    if (type === "ExperimentalWarning" && text?.startsWith("SQLite ")) return;
    emitWarning.call(process, warning, ...rest);
  };
}
