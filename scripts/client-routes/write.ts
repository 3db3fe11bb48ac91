/** `npm run client-routes`: writes the types of the client's routes anew; the formatter has the last word. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { clientRoutes } from "./client-routes.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const folder = join(root, "packages", "harness", "src", "client", "routes");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, text] of clientRoutes()) writeFileSync(join(folder, name), text);
