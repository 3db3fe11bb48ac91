/** Which skills of a home are switched off. Kept beside the skills' folder, whose content is what a person has trusted. */
import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, PRIVATE_FILE } from "../home-folders.ts";

export function switchesIn(home: string): string {
  return join(home, "skills-off.json");
}

/** A file that isn't there or can't be read switches nothing off. */
export async function switchedOff(file: string): Promise<ReadonlySet<string>> {
  const text = await readFile(file, "utf8").catch(() => "[]");
  try {
    const names: unknown = JSON.parse(text);
    return new Set(Array.isArray(names) ? names.filter((name) => typeof name === "string") : []);
  } catch {
    return new Set();
  }
}

/** Whole or not at all. The next run of every agent of the home goes by it. */
export async function switchSkill(home: string, name: string, to: "on" | "off"): Promise<void> {
  const file = switchesIn(home);
  const names = new Set(await switchedOff(file));
  if (to === "off") names.add(name);
  else names.delete(name);
  makeFolder(home);
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify([...names].sort())}\n`, { mode: PRIVATE_FILE });
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}
