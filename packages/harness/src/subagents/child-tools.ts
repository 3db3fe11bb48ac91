/** Which tools a child has: those its spec allows out of what children may have, and never one that says it is not for them. */
import type { ToolSet } from "ai";
import type { Middleware } from "../agent/middleware.ts";
import { factsOfTool } from "../tool-facts.ts";
import type { SubagentSpec } from "./spec.ts";

export function allowedTools(tools: ToolSet, { tools: only, disallowedTools = [] }: SubagentSpec): ToolSet {
  const allowed = Object.entries(tools).filter(
    ([name, tool]) =>
      factsOfTool(tool)?.children !== "none" &&
      !disallowedTools.includes(name) &&
      (only == null || only.includes(name)),
  );
  return Object.fromEntries(allowed);
}

/** Internal: a child's middleware with the tools it brings held to the spec. */
export function withAllowedTools(middleware: Middleware, spec: SubagentSpec): Middleware {
  const { tools } = middleware;
  if (tools === undefined) return middleware;
  return {
    ...middleware,
    // Which of them are left is known in a run only.
    brings: [],
    tools: async (run) => allowedTools(typeof tools === "function" ? await tools(run) : tools, spec),
  };
}
