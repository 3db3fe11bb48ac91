/** The `subagents:` block of a configuration as the middleware takes it. */
import type { ConfigFile } from "../home/schema.ts";
import { pricingOf } from "../models/cache-prices.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { BASH, GENERAL_PURPOSE, type SubagentLimits, type SubagentModel, type SubagentSpec } from "./spec.ts";

type AgentFile = ConfigFile["subagents"]["agents"][string];

/** `parentModel`: the name of the parent's, for agents that don't name one. */
export function subagentsFromConfig(
  config: ConfigFile,
  parentModel: string | null = null,
): SubagentLimits & { readonly agents: readonly SubagentSpec[] } {
  const { agents, ...file } = config.subagents;
  return {
    maxTurns: file.max_turns,
    maxConcurrent: file.max_concurrent,
    maxPerRun: file.max_per_run,
    timeoutSeconds: file.timeout_seconds,
    tokenBudget: file.token_budget,
    resultTokens: file.result_tokens,
    retentionDays: file.retention_days,
    agents: Object.entries(agents).map(([name, agent]) => ({
      name,
      ...described(name, agent),
      disallowedTools: agent.disallowed_tools,
      skills: agent.skills,
      model: config.models.length === 0 ? null : once(() => modelOf(config, agent, parentModel)),
      maxTurns: agent.max_turns,
      timeoutSeconds: agent.timeout_seconds,
      tokenBudget: agent.token_budget,
    })),
  };
}

/** A built-in agent whose limits alone are set stays what it is. */
function described(name: string, agent: AgentFile): Pick<SubagentSpec, "description" | "systemPrompt" | "tools"> {
  const builtIn = [GENERAL_PURPOSE, BASH].find((one) => one.name === name);
  if (agent.description === undefined && builtIn !== undefined) {
    const { description, systemPrompt, tools = null } = builtIn;
    return { description, systemPrompt: agent.system_prompt ?? systemPrompt, tools: agent.tools ?? tools };
  }
  return { description: agent.description ?? "", systemPrompt: agent.system_prompt, tools: agent.tools };
}

async function modelOf(config: ConfigFile, agent: AgentFile, parentModel: string | null): Promise<SubagentModel> {
  const models = config.models.map((entry) => ({ ...entry, thinking: agent.thinking_enabled }));
  const { language, window, maxOutputTokens, baseUrl, pricing } = await resolveModel(
    { ...config, models },
    agent.model ?? parentModel,
  );
  const prices = pricingOf({ pricing });
  return {
    model: language,
    contextWindow: window.tokens,
    ...(maxOutputTokens !== null && { maxOutputTokens }),
    ...(baseUrl !== null && { baseUrl }),
    ...(prices !== null && { prices }),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
