/** What the threads of a file are called: always the same, from what the program itself calls the conversation. */
import type { Format } from "../formats/format.ts";
import type { ImportedThread } from "../piece.ts";

export function threadNames(file: string, format: Format | null): (opened: ImportedThread) => string {
  const names = new Map<string, string>();
  const forks = new Map<string, number>();
  let mains = 0;
  return ({ key, fork, childOf, source }) => {
    const family = names.get(fork?.of ?? childOf ?? "");
    if (family === undefined) {
      mains += 1;
      const own = source === null ? plainName(file, mains) : source.session;
      const name = sessionThread(source?.program ?? format?.id ?? "messages", own);
      names.set(key, name);
      return name;
    }
    if (fork === null) {
      const name = `${family}-${slug(key)}`;
      names.set(key, name);
      return name;
    }
    // A fork of a fork is numbered with the others.
    const count = (forks.get(family) ?? 0) + 1;
    forks.set(family, count);
    names.set(key, family);
    return `${family}-fork-${count}`;
  };
}

export const sessionThread = (program: string, session: string): string => `${program}-${slug(session)}`;

const plainName = (file: string, number: number): string =>
  `${file.replace(/\.jsonl?$/i, "")}${number > 1 ? `-${number}` : ""}`;

/** In letters that a thread id may have; a long name keeps its end, which tells names apart. */
function slug(text: string): string {
  const name = text.replaceAll(/[^A-Za-z0-9_-]+/g, "-");
  return name.slice(-LONGEST).replace(/^-+|-+$/g, "") || "unnamed";
}

const LONGEST = 60;
