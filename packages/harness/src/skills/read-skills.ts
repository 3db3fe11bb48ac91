/**
 * Reads a folder of skills: one folder each, with a `SKILL.md`. A bad one is reported and skipped; it never keeps the
 * others from being read. Links are not followed, so a skill can't bring in files from elsewhere.
 */

import { readdir } from "node:fs/promises";
import { errorText } from "@palimpsest/core/internal/text";
import { withFileIn } from "../workspace/inside.ts";
import { codeOf, ToolFailure } from "../workspace/tool-failure.ts";
import { parseSkill, type Skill } from "./skill.ts";

interface FoundSkill extends Skill {
  /** Its folder's name. */
  readonly folder: string;
}

interface SkippedSkill {
  readonly folder: string;
  readonly problem: string;
}

export interface SkillsRead {
  readonly skills: readonly FoundSkill[];
  readonly skipped: readonly SkippedSkill[];
}

const MAX_BYTES = 256 << 10;

export async function readSkills(directory: string): Promise<SkillsRead> {
  const names = await folders(directory);
  const skills = new Map<string, FoundSkill>();
  const skipped: SkippedSkill[] = [];
  for (const folder of names) {
    try {
      const parsed = parseSkill(await readSkillFile(directory, folder, "SKILL.md"));
      if (parsed.kind === "bad") skipped.push({ folder, problem: parsed.problem });
      else if (skills.has(parsed.skill.name)) {
        const other = skills.get(parsed.skill.name)!.folder;
        skipped.push({ folder, problem: `its name ${parsed.skill.name} is taken by the folder ${other}` });
      } else skills.set(parsed.skill.name, { ...parsed.skill, folder });
    } catch (error) {
      skipped.push({ folder, problem: errorText(error) });
    }
  }
  return { skills: [...skills.values()], skipped };
}

/** A text file of a skill's folder; `path` can't lead out of it. */
export async function readSkillFile(directory: string, folder: string, path: string): Promise<string> {
  const segments = path.split("/").filter((part) => part !== "" && part !== ".");
  const skillPath = `${folder}/${path}`;
  if (segments.includes("..") || /[\0\\]/.test(path) || path.startsWith("/")) {
    throw new ToolFailure(`${JSON.stringify(skillPath.slice(0, 200))} is outside of the skill's folder.`);
  }
  const root = { directory, access: "read-only" as const };
  return withFileIn(root, [folder, ...segments], {
    shown: skillPath,
    use: async (file, size) => {
      if (size > MAX_BYTES)
        throw new ToolFailure(`${skillPath} has ${size} bytes; a skill's file may have ${MAX_BYTES}.`);
      const bytes = await file.readFile();
      if (bytes.includes(0)) throw new ToolFailure(`${skillPath} is a binary file, not text.`);
      return bytes.toString("utf8");
    },
  });
}

async function folders(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    // A link is kept here so that it is reported, not silently missing.
    const wanted = entries.filter(
      (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith("."),
    );
    return wanted.map(({ name }) => name).sort();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
