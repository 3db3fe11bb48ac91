/** The TypeScript in guides and READMEs: each fenced `ts` block is a program of its own, named by its page and line. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface DocProgram {
  /** `docs/agent.md:3` */
  readonly place: string;
  readonly text: string;
}

export function docPrograms(root: string): DocProgram[] {
  return pagesIn(root).flatMap((page) => programsIn(page, readFileSync(join(root, page), "utf8")));
}

/** README, every guide, and each package's README. */
export function pagesIn(root: string): string[] {
  const guides = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  const packages = readdirSync(join(root, "packages")).map((name) => join("packages", name, "README.md"));
  return [
    "README.md",
    ...guides.map((name) => join("docs", name)),
    ...packages.filter((page) => existsSync(join(root, page))),
  ];
}

export function programsIn(page: string, markdown: string): DocProgram[] {
  const programs: { place: string; lines: string[] }[] = [];
  let open: string | null = null;
  for (const [index, line] of markdown.split("\n").entries()) {
    if (open === null && line.startsWith("```")) {
      open = line.slice(3);
      if (open === "ts" || open === "tsx") programs.push({ place: `${page}:${index + 1}`, lines: [] });
    } else if (line.startsWith("```")) open = null;
    else if (open === "ts" || open === "tsx") programs.at(-1)!.lines.push(line);
  }
  return programs.map(({ place, lines }) => ({ place, text: `${lines.join("\n")}\n` }));
}
