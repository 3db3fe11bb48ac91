/** The YAML library, loaded at its first use: most programs start without a file of it, and it is a tenth of a start. */
type Yaml = typeof import("yaml");

/** A bundler puts the library in its place; a module as it stands has no `require`. */
declare const require: ((name: "yaml") => Yaml) | undefined;

export function yaml(): Yaml {
  if (typeof require === "function") return require("yaml");
  return process.getBuiltinModule("node:module").createRequire(import.meta.url)("yaml");
}
