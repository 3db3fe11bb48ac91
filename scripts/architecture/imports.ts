/**
 * Finds what a source file imports and exports. Relies on the formatter's regular spelling (one statement, double
 * quotes, a semicolon); `import { type A }` counts as a runtime import, because Node's type stripping keeps it one.
 */
import { blank, lineOf } from "./source-text.ts";

export interface Import {
  readonly specifier: string;
  readonly when: "runtime" | "types";
  readonly line: number;
}

export interface Exports {
  readonly values: readonly string[];
  readonly types: readonly string[];
  /** Specifiers of `export * from`; every name of theirs is exported too. */
  readonly everythingFrom: readonly { readonly specifier: string; readonly as: "values" | "types" }[];
}

export function importsOf(source: string): Import[] {
  const text = blank(source, { strings: "keep" });
  const found: Import[] = [];
  const add = (pattern: RegExp, read: (match: RegExpExecArray) => Omit<Import, "line">) => {
    for (const match of text.matchAll(pattern)) found.push({ ...read(match), line: lineOf(text, match.index) });
  };
  add(/^(?:import|export)\s+(type\s+)?(?:[\w$]+|[^;"'`=()]*[*}][^;"'`=()]*?)\s+from\s+"([^"]+)"/gm, (match) => ({
    specifier: match[2]!,
    when: match[1] ? "types" : "runtime",
  }));
  add(/^import\s+"([^"]+)"/gm, (match) => ({ specifier: match[1]!, when: "runtime" }));
  add(/(?<![\w$.])import\(\s*"([^"]+)"\s*\)(?!\.)/g, (match) => ({ specifier: match[1]!, when: "runtime" }));
  return found.sort((a, b) => a.line - b.line);
}

export function exportsOf(source: string): Exports {
  const text = blank(source, { strings: "keep" });
  const values = new Set<string>();
  const types = new Set<string>();
  for (const match of text.matchAll(
    /^export\s+(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(const|let|function\*?|class)\s+([\w$]+)/gm,
  ))
    values.add(match[2]!);
  for (const match of text.matchAll(/^export\s+(?:type|interface)\s+([\w$]+)/gm)) types.add(match[1]!);
  for (const match of text.matchAll(/^export\s+(type\s+)?\{([^}]*)\}/gm)) {
    for (const item of match[2]!.split(",")) {
      const [, ownType, name] = /^\s*(type\s+)?(?:[\w$]+\s+as\s+)?([\w$]+)\s*$/.exec(item) ?? [];
      if (name) (match[1] || ownType ? types : values).add(name);
    }
  }
  const everythingFrom = [...text.matchAll(/^export\s+(type\s+)?\*\s+from\s+"([^"]+)"/gm)].map((match) => ({
    specifier: match[2]!,
    as: match[1] ? ("types" as const) : ("values" as const),
  }));
  return { values: [...values].sort(), types: [...types].sort(), everythingFrom };
}
