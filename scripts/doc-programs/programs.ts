/** The TypeScript in guides and READMEs: each fenced `ts` block is a program of its own, named by its page and line. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface DocProgram {
  /** `docs/agent.md:3` */
  readonly place: string;
  readonly text: string;
}

export function docPrograms(root: string): DocProgram[] {
  const guides = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  const packages = readdirSync(join(root, "packages")).map((name) => join("packages", name, "README.md"));
  const pages = ["README.md", ...guides.map((name) => join("docs", name)), ...packages];
  return pages.flatMap((page) => {
    try {
      return programsIn(page, readFileSync(join(root, page), "utf8"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  });
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
