/** `npm run api-reference`: writes `docs/api` anew. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadWorkspace } from "../architecture/workspace.ts";
import { referencePages } from "./page.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const folder = join(root, "docs", "api");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, text] of referencePages(loadWorkspace(root))) writeFileSync(join(folder, name), text);
