/** What there is to use: models, skills, sub-agents. Addresses and keys of providers are never shown. */
import { switchSkill } from "palimpsest/internal/assistant";
import { modelsDocument, skillsDocument, subagentsDocument } from "palimpsest/internal/documents";
import { z } from "zod";
import { notFound } from "../http/problem.ts";
import { type Route, route } from "../http/route.ts";
import { list } from "../http/schemas.ts";

const skill = z.strictObject({ name: z.string(), description: z.string(), enabled: z.boolean() });
const window = z.strictObject({ tokens: z.number(), source: z.string() });

export const catalogRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/models",
    summary: "The models that are configured, with windows and prices",
    access: "user",
    answer: z.strictObject({
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
      possible: list(z.unknown()).describe("Always empty here: whose keys the server's environment has is its own."),
      pricesAsOf: z.string(),
    }),
    handle: async ({ home }) => modelsDocument(await home.settings(), {}, await home.learned()),
  }),
  route({
    method: "GET",
    path: "/api/skills",
    summary: "The skills an agent here has",
    access: "user",
    answer: z.strictObject({
      skills: list(skill),
      skipped: list(z.strictObject({ folder: z.string(), problem: z.string() })),
    }),
    handle: async ({ home }) => skillsDocument(home.directory, await home.settings()),
  }),
  route({
    method: "PUT",
    path: "/api/skills/{name}",
    summary: "Switch a skill on or off, for every agent here from its next run on",
    access: "admin",
    body: z.strictObject({ enabled: z.boolean() }),
    answer: skill,
    async handle({ home, params, body }) {
      const name = params["name"]!;
      const { skills } = await skillsDocument(home.directory, await home.settings());
      const found = skills.find((one) => one.name === name);
      if (found === undefined) throw notFound(`skill ${JSON.stringify(name.slice(0, 140))}`);
      await switchSkill(home.directory, name, body.enabled ? "on" : "off");
      return { ...found, enabled: body.enabled };
    },
  }),
  route({
    method: "GET",
    path: "/api/subagents",
    summary: "The sub-agents an agent here may start",
    access: "user",
    answer: z.strictObject({
      subagents: list(z.looseObject({ name: z.string(), description: z.string() })),
    }),
    async handle({ home }) {
      const { subagents } = subagentsDocument(await home.settings());
      return { subagents: subagents.map((one) => ({ ...one })) };
    },
  }),
];
