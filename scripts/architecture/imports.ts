/**
 * What a source file imports and exports. `import { type A }` counts as a runtime import, because Node's type stripping
 * keeps it one.
 */
import { lineOf, parse } from "./syntax.ts";

export interface Import {
  readonly specifier: string;
  readonly when: "runtime" | "types";
  readonly line: number;
}

export interface Exports {
  readonly values: readonly string[];
  /** Those of the values that are another module whole: `export * as log`. */
  readonly namespaces: readonly string[];
  readonly types: readonly string[];
  /** Specifiers of `export * from`; every name of theirs is exported too. */
  readonly everythingFrom: readonly { readonly specifier: string; readonly as: "values" | "types" }[];
}

export function importsOf(text: string): Import[] {
  const { module } = parse(text);
  const typesOnly = (start: number): boolean => /^(?:import|export)\s+type\b/.test(text.slice(start, start + 30));
  const found = (specifier: string, start: number): Import => ({
    specifier,
    when: typesOnly(start) ? "types" : "runtime",
    line: lineOf(text, start),
  });
  const imports = module.staticImports.map(({ moduleRequest, start }) => found(moduleRequest.value, start));
  const exports = module.staticExports.flatMap(({ entries, start, end }) => {
    const from = entries[0]?.moduleRequest;
    // `export { a }` of an imported name is listed at the import; only what stands in the statement itself counts here.
    return from == null || from.start < start || from.end > end ? [] : [found(from.value, start)];
  });
  const dynamic = module.dynamicImports.flatMap(({ moduleRequest, start }) => {
    const specifier = /^["'](.+)["']$/.exec(text.slice(moduleRequest.start, moduleRequest.end))?.[1];
    return specifier === undefined ? [] : [found(specifier, start)];
  });
  const unique = new Map([...imports, ...exports, ...dynamic].map((one) => [`${one.line} ${one.specifier}`, one]));
  return [...unique.values()].sort((a, b) => a.line - b.line);
}

export function exportsOf(text: string): Exports {
  const values = new Set<string>();
  const types = new Set<string>();
  const namespaces: string[] = [];
  const everythingFrom: { specifier: string; as: "values" | "types" }[] = [];
  for (const { entries } of parse(text).module.staticExports) {
    for (const { exportName, importName, moduleRequest, isType } of entries) {
      if (importName.kind === "AllButDefault" && moduleRequest !== null) {
        everythingFrom.push({ specifier: moduleRequest.value, as: isType ? "types" : "values" });
      } else if (exportName.kind === "Name" && exportName.name !== null) {
        (isType ? types : values).add(exportName.name);
        if (importName.kind === "All") namespaces.push(exportName.name);
      }
    }
  }
  return { values: [...values].sort(), types: [...types].sort(), namespaces, everythingFrom };
}
