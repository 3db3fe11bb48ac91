/**
 * Skills: folders of instructions, listed in the prompt and read on demand. Which ones were loaded is state; when a
 * compaction hides the reading, the text stands in the prompt from then on [F21].
 */
import { randomUUID } from "node:crypto";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeTool, jsonOr } from "@palimpsest/core/internal/message";
import { clip, errorCode, errorText } from "@palimpsest/core/internal/text";
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import type { Middleware, Run } from "../../agent/run.ts";
import { stateList } from "../../agent/tools.ts";
import { makeFolder, PRIVATE_FILE, yaml } from "../../home-folders.ts";
import { withFileIn } from "../workspace/inside.ts";
import { ToolFailure } from "../workspace/tool-failure.ts";

declare module "../../agent/features.ts" {
  interface FeatureEvents {
    readonly skills: { readonly type: "skill-skip"; readonly folder: string; readonly problem: string };
  }
}

export interface SkillsOptions {
  /** The folder of skill folders. */
  readonly directory: string;
  /** Only these; null: all. */
  readonly only?: readonly string[] | null;
  /** A file that lists the names of those that are switched off, read anew for each run. */
  readonly switches?: string | null;
  /** Most characters of loaded skills that stay in the prompt after a compaction. */
  readonly maxLoadedChars?: number;
}

export function skills(options: SkillsOptions): Middleware {
  const { directory, maxLoadedChars = 8000 } = options;
  const loaded = stateList<LoadedSkill>("skills", ({ name }) => name);
  const reads = new WeakMap<Run, Promise<SkillsRead>>();
  const read = (run: Run): Promise<SkillsRead> => {
    const cached = reads.get(run) ?? readWanted(options);
    reads.set(run, cached);
    return cached;
  };
  return {
    name: "skills",
    async beforeAgent(run) {
      const { skipped } = await read(run);
      for (const { folder, problem } of skipped) run.emit({ type: "skill-skip", folder, problem });
    },
    async prompt(run) {
      const { skills: list } = await read(run);
      const { hiddenThrough } = run.thread.head();
      const view = { skills: list, loaded: loaded.of(run), hiddenThrough, maxChars: maxLoadedChars };
      return [{ slot: "skills", text: renderSkills(view) }];
    },
    async tools(run) {
      const { skills: list } = await read(run);
      if (list.length === 0) return {};
      const note = (name: string): Promise<void> => loaded.add(run, { name, seq: run.thread.head().version + 1 });
      return { load_skill: loadSkillTool(directory, list, note) };
    },
  };
}

async function readWanted({ directory, only = null, switches = null }: SkillsOptions): Promise<SkillsRead> {
  const { skills: all, skipped } = await readSkills(directory);
  const off = switches === null ? new Set() : await switchedOff(switches);
  return { skills: all.filter(({ name }) => (only === null || only.includes(name)) && !off.has(name)), skipped };
}

const INPUT = z.object({
  name: z.string().describe("As listed in <skills>."),
  file: z.string().optional().describe("A file the instructions name, relative to the skill's folder."),
});

function loadSkillTool(directory: string, list: SkillsRead["skills"], note: (name: string) => Promise<void>): Tool {
  return tool({
    description: "Read a skill's instructions, or another file of its folder.",
    metadata: describeTool({ act: "none" }),
    inputSchema: INPUT,
    execute: async ({ name, file }): Promise<string> => {
      const skill = list.find((one) => one.name === name);
      if (skill === undefined) {
        throw new ToolFailure(
          `There is no skill ${JSON.stringify(name)}; there are: ${list.map((one) => one.name).join(", ")}.`,
        );
      }
      if (file !== undefined) return readSkillFile(directory, skill.folder, file);
      await note(name);
      return skill.body;
    },
  });
}

/* Which skills of a home are switched off. Kept beside the skills' folder, whose content is what a person has trusted. */

export function switchesIn(home: string): string {
  return join(home, "skills-off.json");
}

/** A file that isn't there or can't be read switches nothing off. */
export async function switchedOff(file: string): Promise<ReadonlySet<string>> {
  const text = await readFile(file, "utf8").catch(() => "[]");
  const names = jsonOr(text, []);
  return new Set(Array.isArray(names) ? names.filter((name) => typeof name === "string") : []);
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

/*
 * The `<skills>` block: which skills there are, and the text of those whose loading a compaction has hidden. Pure. It
 * changes only with the folder and with a compaction, so that the provider's cache holds in between.
 */

/** A skill the agent has loaded, and where in the log. */
interface LoadedSkill {
  readonly name: string;
  readonly seq: number;
}

interface SkillsView {
  readonly skills: readonly Skill[];
  readonly loaded: readonly LoadedSkill[];
  /** Seq of the last summarized message. */
  readonly hiddenThrough: number;
  /** Most characters of loaded skills' texts in the prompt. */
  readonly maxChars: number;
}

export function renderSkills({ skills, loaded, hiddenThrough, maxChars }: SkillsView): string {
  if (skills.length === 0) return "";
  const list = skills.map(({ name, description }) => `- ${name}: ${escaped(clip(description, 300))}`);
  const hidden = loaded.filter(({ seq }) => seq <= hiddenThrough).map(({ name }) => name);
  const lines = ["Instructions for certain kinds of work. Load one with load_skill before such work:", ...list];
  let room = maxChars;
  for (const { name, body } of skills.filter((skill) => hidden.includes(skill.name))) {
    if (body.length <= room) lines.push(`\nLoaded earlier: ${name}\n${escaped(body)}`);
    else lines.push(`\nLoaded earlier: ${name}; load it again to read it.`);
    room -= Math.min(room, body.length);
  }
  return lines.join("\n");
}

/** A skill's text can't close the block it stands in. */
function escaped(text: string): string {
  return text.replaceAll(/<(?=\/?(?:skills|memory)\b)/gi, "&lt;");
}

// Reads a folder of skills: one folder each, with a `SKILL.md`. A bad one is reported and skipped; it never keeps the
// others from being read. Links are not followed, so a skill can't bring in files from elsewhere.

interface FoundSkill extends Skill {
  /** Its folder's name. */
  readonly folder: string;
}

interface SkippedSkill {
  readonly folder: string;
  readonly problem: string;
}

interface SkillsRead {
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
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/* A skill's file: front matter with a name and a description, then what to do. Pure. */

interface Skill {
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
