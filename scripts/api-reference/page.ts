/** The pages of the reference: one for each public subpath, values first. Pure; `write.ts` puts them into `docs/api`. */
import type { PublicNames } from "../architecture/public-names.ts";
import { publicNames } from "../architecture/public-names.ts";
import type { Workspace } from "../architecture/workspace.ts";
import { type Declaration, declarationOf } from "./declarations.ts";

/** File name to text. */
export function referencePages(workspace: Workspace): ReadonlyMap<string, string> {
  const listed = Object.entries(publicNames(workspace)).filter(([specifier]) => specifier !== "@palimpsest/cli");
  const pages = listed.map(([specifier, names]) => [fileOf(specifier), page(workspace, specifier, names)] as const);
  return new Map([["README.md", contents(listed)], ...pages]);
}

function fileOf(specifier: string): string {
  return `${specifier.replace("@palimpsest/", "").replaceAll("/", "-")}.md`;
}

function contents(listed: readonly (readonly [string, PublicNames])[]): string {
  const rows = listed.map(
    ([specifier, { values }]) =>
      `| [\`${specifier}\`](${fileOf(specifier)}) | ${values.map((name) => `\`${name}\``).join(", ")} |`,
  );
  return `# API reference

${NOTE} The guides in the folder above explain what the parts are for.

| import from | values |
| --- | --- |
${rows.join("\n")}
`;
}

const NOTE = "Made from the sources by `npm run api-reference`.";

function page(workspace: Workspace, specifier: string, { values, types }: PublicNames): string {
  const file = fileFor(workspace, specifier);
  const entry = (name: string): string => section(name, declarationOf(workspace, file, name));
  const parts = [
    `# ${specifier}\n\n${NOTE} [All subpaths](README.md)\n`,
    ...values.map(entry),
    ...(types.length === 0 ? [] : ["## Types\n", ...types.map(entry)]),
  ];
  return `${parts.join("\n").trimEnd()}\n`;
}

function fileFor(workspace: Workspace, specifier: string): string {
  const owner = workspace.packages.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`))!;
  return owner.exports.get(`.${specifier.slice(owner.name.length)}`)!;
}

function section(name: string, declaration: Declaration | undefined): string {
  if (declaration === undefined) throw new Error(`the declaration of the public name ${name} can't be found`);
  const { comment, code } = declaration;
  return `### ${name}\n\n${comment === "" ? "" : `${comment}\n\n`}\`\`\`ts\n${code}\n\`\`\`\n`;
}
