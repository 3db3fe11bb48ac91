/** What an agent of this home may use beside its tools, as JSON: skills and sub-agents. */
import { resolve } from "node:path";
import type { ConfigFile } from "../home/schema.ts";
import { readSkills } from "../skills/read-skills.ts";
import { switchedOff, switchesIn } from "../skills/switched-off.ts";
import { subagentsFromConfig } from "../subagents/from-config.ts";
import { createRegistry } from "../subagents/registry.ts";

export async function skillsDocument(home: string, { skills: { path } }: ConfigFile) {
  const { skills, skipped } = await readSkills(resolve(home, path));
  const off = await switchedOff(switchesIn(home));
  return {
    skills: skills.map(({ name, description }) => ({ name, description, enabled: !off.has(name) })),
    skipped: skipped.map(({ folder, problem }) => ({ folder, problem })),
  };
}

export function subagentsDocument(config: ConfigFile) {
  const registry = createRegistry(subagentsFromConfig(config).agents);
  const subagents = registry.names.map((name) => {
    const { description, tools, skills, maxTurns, timeoutSeconds, tokenBudget } = registry.find(name)!;
    const limits = {
      maxTurns: maxTurns ?? null,
      timeoutSeconds: timeoutSeconds ?? null,
      tokenBudget: tokenBudget ?? null,
    };
    return { name, description, tools: tools ?? null, skills: skills ?? null, ...limits };
  });
  return { subagents };
}
