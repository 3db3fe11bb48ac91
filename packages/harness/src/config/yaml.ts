/** The YAML library, loaded at its first use: most programs start without a file of it, and it is a tenth of a start. */
import { createRequire } from "node:module";

type Yaml = typeof import("yaml");

/** Bundlers put the library in its place; a module as it stands has no `require`. */
declare const require: ((name: "yaml") => Yaml) | undefined;

export function yaml(): Yaml {
  return typeof require === "function" ? require("yaml") : createRequire(import.meta.url)("yaml");
}
