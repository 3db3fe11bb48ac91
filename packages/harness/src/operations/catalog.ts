/** What an agent of this home may use: models, skills, sub-agents. Addresses and keys of providers are never shown. */
import { resolve } from "node:path";
import { z } from "zod";
import { readSkills, switchedOff, switchesIn, switchSkill } from "../features/skills/middleware.ts";
import { createRegistry, subagentsFromConfig } from "../features/subagents/spec.ts";
import type { Home } from "../home/open-home.ts";
import { PRICES_AS_OF, pricesOf, windowNow, windowOf } from "../models/facts.ts";
import { offeredModels } from "../models/resolve.ts";
import { type ClosedHome, list, OperationError, operation } from "./operation.ts";

const window = z.strictObject({ tokens: z.number(), source: z.string() });

export const models = operation({
  name: "models",
  summary: "The models that are configured, with windows and prices",
  method: "GET",
  path: "/api/models",
  needs: "settings",
  input: z.strictObject({}),
  output: z.strictObject({
    configured: list(
      z.strictObject({
        name: z.string(),
        use: z.string(),
        provider: z.string(),
        model: z.string(),
        window,
        prices: z.unknown(),
      }),
    ),
    possible: list(z.unknown()).describe(
      "Those that the caller's environment has a key for. Always empty over HTTP: whose keys the server's environment has is its own.",
    ),
    pricesAsOf: z.string(),
  }),
  async run(home: Home | ClosedHome, _input, { env = {} }) {
    const [config, learned] = [await home.settings(), await home.learned()];
    const { fallback_context_window: fallback } = config.summarization;
    const configured = config.models.map((entry, index) => {
      const { name, provider, model, lightweight } = entry;
      const use = [...(index === 0 ? ["default"] : []), ...(lightweight ? ["lightweight"] : [])].join(", ");
      return { name, use, provider, model, window: windowNow(entry, fallback, learned), prices: pricesOf(entry) };
    });
    const taken = new Set(config.models.map(({ provider, base_url }) => `${provider} ${base_url ?? ""}`));
    const possible = offeredModels(env)
      .filter(({ provider, baseUrl }) => !taken.has(`${provider} ${baseUrl ?? ""}`))
      .map((offer) => ({ ...offer, window: windowOf(offer, fallback) }));
    return { configured, possible, pricesAsOf: PRICES_AS_OF };
  },
});

const skill = z.strictObject({ name: z.string(), description: z.string(), enabled: z.boolean() });

export const skills = operation({
  name: "skills",
  summary: "The skills an agent here has",
  method: "GET",
  path: "/api/skills",
  needs: "settings",
  input: z.strictObject({}),
  output: z.strictObject({
    skills: list(skill),
    skipped: list(z.strictObject({ folder: z.string(), problem: z.string() })),
  }),
  run: skillsOf,
});

export const setSkill = operation({
  name: "skill",
  summary: "Switch a skill on or off, for every agent here from its next run on",
  method: "PUT",
  path: "/api/skills/{name}",
  access: "admin",
  needs: "settings",
  input: z.strictObject({ name: z.string(), enabled: z.boolean() }),
  output: skill,
  async run(home: Home | ClosedHome, { name, enabled }) {
    const known = (await skillsOf(home)).skills.find((one) => one.name === name);
    if (known === undefined)
      throw new OperationError("missing", `there is no skill ${JSON.stringify(name.slice(0, 140))}`);
    await switchSkill(home.directory, name, enabled ? "on" : "off");
    return { ...known, enabled };
  },
});

async function skillsOf(home: Home | ClosedHome) {
  const { path } = (await home.settings()).skills;
  const folders = await readSkills(resolve(home.directory, path));
  const off = await switchedOff(switchesIn(home.directory));
  return {
    skills: folders.skills.map(({ name, description }) => ({ name, description, enabled: !off.has(name) })),
    skipped: folders.skipped.map(({ folder, problem }) => ({ folder, problem })),
  };
}

export const subagents = operation({
  name: "subagents",
  summary: "The sub-agents an agent here may start",
  method: "GET",
  path: "/api/subagents",
  needs: "settings",
  input: z.strictObject({}),
  output: z.strictObject({ subagents: list(z.looseObject({ name: z.string(), description: z.string() })) }),
  async run(home: Home | ClosedHome) {
    const registry = createRegistry(subagentsFromConfig(await home.settings()).agents);
    return {
      subagents: registry.names.map((name) => {
        const { description, tools, skills: own, maxTurns, timeoutSeconds, tokenBudget } = registry.find(name)!;
        const limits = {
          maxTurns: maxTurns ?? null,
          timeoutSeconds: timeoutSeconds ?? null,
          tokenBudget: tokenBudget ?? null,
        };
        return { name, description, tools: tools ?? null, skills: own ?? null, ...limits };
      }),
    };
  },
});
