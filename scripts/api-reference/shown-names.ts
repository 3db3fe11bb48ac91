/**
 * Which public values no example and no guide shows. `npm run public-names` takes names that are shown by now, or gone,
 * off the list of exceptions; it never adds one.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { publicNames } from "../architecture/public-names.ts";
import type { Workspace } from "../architecture/workspace.ts";

/** As `palimpsest/models: windowOf`. */
export function namesNotShown(workspace: Workspace, code: string): readonly string[] {
  const words = new Set(code.match(/[A-Za-z_$][\w$]*/g));
  return Object.entries(publicNames(workspace)).flatMap(([specifier, { values }]) =>
    values.filter((name) => !words.has(name)).map((name) => `${specifier}: ${name}`),
  );
}

/** All examples, and what stands as code in the guides. */
export function shownCode(root: string): string {
  const examples = readdirSync(join(root, "examples"), { recursive: true }).map(String);
  const programs = examples.filter((name) => /\.m?[jt]sx?$/.test(name)).map((name) => join(root, "examples", name));
  const guides = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  const packages = readdirSync(join(root, "packages")).map((name) => join(root, "packages", name, "README.md"));
  const pages = [
    join(root, "README.md"),
    ...packages.filter(existsSync),
    ...guides.map((name) => join(root, "docs", name)),
  ];
  return [
    ...programs.map((path) => readFileSync(path, "utf8")),
    ...pages.map((path) => codeIn(readFileSync(path, "utf8"))),
  ].join("\n");
}

/** Fenced blocks and code spans: a word of the running text is no use of a name. */
export function codeIn(markdown: string): string {
  return (markdown.match(/^```[\s\S]*?^```|`[^`\n]+`/gm) ?? []).join("\n");
}
