/**
 * Reads a folder of skills: one folder each, with a `SKILL.md`. A bad one is reported and skipped; it never keeps the
 * others from being read. Links are not followed, so a skill can't bring in files from elsewhere.
 */
import { readdir } from "node:fs/promises";
import { errorText } from "@palimpsest/core/internal/text";
import { z } from "zod/v4";
import { withFileIn } from "../workspace/inside.ts";
import { codeOf, ToolFailure } from "../workspace/tool-failure.ts";
import { yaml } from "../yaml.ts";

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

/* A skill's file: front matter with a name and a description, then what to do. Pure. */

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
}

type ParsedSkill =
  | { readonly kind: "skill"; readonly skill: Skill }
  | { readonly kind: "bad"; readonly problem: string };

const frontMatter = z.object({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "letters, digits, . _ - only, at most 64"),
  description: z.string().trim().min(1).max(1024),
});

export function parseSkill(text: string): ParsedSkill {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]{0,8192}?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  if (match === null) return bad("it must begin with front matter between two lines of ---");
  let fields: unknown;
  try {
    fields = yaml().parse(match[1]!, { logLevel: "error" });
  } catch (error) {
    return bad(`its front matter is not valid YAML: ${firstLine(error)}`);
  }
  const checked = frontMatter.safeParse(fields);
  if (!checked.success) {
    const { path, message } = checked.error.issues[0]!;
    return bad(`its front matter has no usable ${path.join(".") || "fields"}: ${message}`);
  }
  const description = checked.data.description.split(/\s+/).join(" ");
  return { kind: "skill", skill: { name: checked.data.name, description, body: text.slice(match[0].length).trim() } };
}

function bad(problem: string): ParsedSkill {
  return { kind: "bad", problem };
}

function firstLine(error: unknown): string {
  return errorText(error).split("\n", 1)[0]!;
}
