/**
 * `npm run client-routes`: writes the types of the client's routes. They are not committed: installing, building and every
 * check that reads types makes them. A file that is right is left alone, so that nothing is built again for it.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { clientRoutes } from "./client-routes.ts";

const file = join(dirname(fileURLToPath(import.meta.url)), "../../packages/harness/src/client/routes.ts");
const text = clientRoutes();
if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeFileSync(file, text);
