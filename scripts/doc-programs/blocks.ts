/** The `console` blocks of guides and READMEs: what is typed after each `$`, and what the page shows of the answer. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pagesIn } from "./programs.ts";

interface Command {
  /** `docs/cli.md:33` */
  readonly place: string;
  readonly text: string;
  /** The lines shown below it; empty if the page shows none. */
  readonly shown: readonly string[];
}

export interface Block {
  readonly place: string;
  /** Why it isn't run, from `<!-- not run: REASON -->` above it; null if it runs. */
  readonly notRun: string | null;
  readonly commands: readonly Command[];
}

export interface Page {
  readonly name: string;
  readonly blocks: readonly Block[];
}

export function consolePages(root: string): Page[] {
  return [...pagesIn(root), "CONTRIBUTING.md"]
    .map((name) => ({ name, blocks: blocksIn(name, readFileSync(join(root, name), "utf8")) }))
    .filter(({ blocks }) => blocks.length > 0);
}

export function blocksIn(page: string, markdown: string): Block[] {
  const lines = markdown.split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const language = /^```(\S+)/.exec(lines[at]!)?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf("```", at + 1);
    if (["console", "sh", "bash", "shell"].includes(language)) {
      const notRun = /^<!-- not run: (.+) -->$/.exec(lines[at - 1] ?? "")?.[1] ?? null;
      blocks.push({ place: `${page}:${at + 1}`, notRun, commands: commandsIn(page, lines, at + 1, end) });
    }
    at = end;
  }
  return blocks;
}

function commandsIn(page: string, lines: readonly string[], from: number, until: number): Command[] {
  const commands: { place: string; text: string; shown: string[] }[] = [];
  let ending: string | null = null;
  for (let at = from; at < until; at++) {
    const line = lines[at]!;
    const last = commands.at(-1);
    if (line.startsWith("$ ")) commands.push({ place: `${page}:${at + 1}`, text: line.slice(2), shown: [] });
    else if (last === undefined) throw new Error(`${page}:${at + 1}: a console block begins with "$ "`);
    else if (ending !== null || last.text.endsWith("\\")) last.text += `\n${line}`;
    else last.shown.push(line);
    if (ending === null) ending = /<<'(\w+)'/.exec(line)?.[1] ?? null;
    else if (line === ending) ending = null;
  }
  return commands;
}
