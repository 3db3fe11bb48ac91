/** The YAML library, loaded at its first use: most programs start without a file of it, and it is a tenth of a start. */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export function yaml(): typeof import("yaml") {
  return require("yaml");
}
