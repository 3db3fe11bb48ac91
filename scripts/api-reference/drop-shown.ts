/** The second half of `npm run public-names`: takes off the list of exceptions what is shown by now, or gone. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadWorkspace } from "../architecture/workspace.ts";
import { namesNotShown, shownCode } from "./shown-names.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const path = join(root, "scripts", "names-not-shown.json");
const excepted: readonly string[] = JSON.parse(readFileSync(path, "utf8"));
const missing = namesNotShown(loadWorkspace(root), shownCode(root));
writeFileSync(
  path,
  `${JSON.stringify(
    missing.filter((name) => excepted.includes(name)),
    null,
    2,
  )}\n`,
);
