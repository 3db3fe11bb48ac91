/**
 * Skills: folders of instructions, listed in the prompt and read on demand. Which ones were loaded is state; when a
 * compaction hides the reading, the text stands in the prompt from then on [F21].
 */
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import type { Middleware } from "../agent/middleware.ts";
import type { Run } from "../agent/run.ts";
import { stateList } from "../agent/tools.ts";
import { toolFacts } from "../tool-facts.ts";
import { ToolFailure } from "../workspace/tool-failure.ts";
import { readSkillFile, readSkills, type SkillsRead } from "./read-skills.ts";
import { type LoadedSkill, renderSkills } from "./render-skills.ts";
import { switchedOff } from "./switched-off.ts";

declare module "../agent/features.ts" {
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
      const { hiddenThrough } = run.conversation.head();
      const view = { skills: list, loaded: loaded.of(run), hiddenThrough, maxChars: maxLoadedChars };
      return [{ slot: "skills", text: renderSkills(view) }];
    },
    async tools(run) {
      const { skills: list } = await read(run);
      if (list.length === 0) return {};
      const note = (name: string): Promise<void> => loaded.add(run, { name, seq: run.conversation.head().version + 1 });
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
    metadata: toolFacts({ act: "none" }),
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
