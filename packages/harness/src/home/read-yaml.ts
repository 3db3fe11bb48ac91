/**
 * From YAML to plain values, or to what is wrong with it. Aliases may neither multiply without bound nor hold themselves:
 * everything that walks the values afterwards may rely on a tree of the file's own size.
 */
import { yaml } from "../yaml.ts";

export type ReadYaml =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

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
  return message.split("\n", 1)[0]!.replace(/:$/, "");
}
