/** YAML. The library is loaded at its first use: it takes a tenth of the start, and most commands need no YAML. */
type Yaml = typeof import("yaml");

/** A bundler puts the library in its place; a module as it stands has no `require`. */
declare const require: ((name: "yaml") => Yaml) | undefined;

export function yaml(): Yaml {
  if (typeof require === "function") return require("yaml");
  return process.getBuiltinModule("node:module").createRequire(import.meta.url)("yaml");
}

type ReadYaml =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Plain values, or the problems. The result is a tree of about the size of the file: cyclic and exploding aliases are refused. */
export function readYaml(text: string): ReadYaml {
  if (text.trim() === "") return { kind: "value", value: null };
  const document = yaml().parseDocument(text, { prettyErrors: true, logLevel: "error" });
  if (document.errors.length > 0)
    return { kind: "invalid", problems: document.errors.map(({ message }) => `not valid YAML: ${firstLine(message)}`) };
  try {
    const value: unknown = document.toJS();
    return holdsItself(value, new Set())
      ? invalid("an alias stands inside of what it stands for")
      : { kind: "value", value };
  } catch (error) {
    // The library counts what its aliases come to and stops.
    if (error instanceof ReferenceError) return invalid(`its aliases can't be followed: ${firstLine(error.message)}`);
    if (error instanceof RangeError) return invalid("it is nested too deeply");
    throw error;
  }
}

function holdsItself(value: unknown, around: Set<object>): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (around.has(value)) return true;
  around.add(value);
  const isCyclic = Object.values(value).some((inner) => holdsItself(inner, around));
  around.delete(value);
  return isCyclic;
}

function invalid(problem: string): ReadYaml {
  return { kind: "invalid", problems: [`not usable YAML: ${problem}`] };
}

/** The parser draws the place below its sentence, which names it already. */
function firstLine(message: string): string {
  return message.replace(/\n.*$/s, "").replace(/:$/, "");
}
