// CI's use of `palimpsest eval`: generated data, the real command, and the bounds of eval-gate/gate.json. Exits as the command does.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generatedDialogs } from "../bench/gate/dialogs.ts";
import { generatedSession } from "../bench/gate/session.ts";
import { generatedChat, generatedValues } from "./eval-gate/data.ts";

const WINDOW = "8000";
const folder = mkdtempSync(join(tmpdir(), "palimpsest-eval-gate-"));
try {
  const files = Object.entries({
    "session.jsonl": await generatedSession(5, 20),
    "dialogs.json": generatedDialogs(5, 1),
    "chat.json": generatedChat(5, 60),
    "values.json": generatedValues(5, 60),
  }).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
  const binary = join(import.meta.dirname, "..", "packages", "cli", "bin", "palimpsest.js");
  const gate = join(import.meta.dirname, "eval-gate", "gate.json");
  const home = join(folder, "home");
  const given = ["eval", ...files, "--window", WINDOW, "--gate", gate, "--home", home, ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, ["--conditions=palimpsest-source", binary, ...given], {
    stdio: "inherit",
    cwd: folder,
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
