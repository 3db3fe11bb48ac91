/**
 * What a tool says of itself, where the AI SDK has a place for it: `metadata`, which no model sees. The definition of a
 * tool gives its facts there; readers take them from the tool.
 */
import type { FindToolFacts, ToolFacts } from "@palimpsest/core/internal/message";
import type { Tool, ToolSet } from "ai";

const KEY = "palimpsest";

/** The `metadata` of a tool that has these facts: `tool({ ..., metadata: describeTool({ act: "read" }) })`. */
export function describeTool(facts: ToolFacts): { readonly [KEY]: ToolFacts & Record<string, string> } {
  return { [KEY]: { ...facts } };
}

export function factsOfTool(tool: Pick<Tool, "metadata"> | undefined): ToolFacts | undefined {
  const facts = tool?.metadata?.[KEY];
  return typeof facts === "object" && facts !== null ? (facts as ToolFacts) : undefined;
}

/** Facts by name, out of the tools it was shown: it keeps what they say, never the tools, which may hold a whole run. */
export interface ToolRegistry {
  readonly find: FindToolFacts;
  learn(tools: ToolSet): void;
}

export function toolRegistry(): ToolRegistry {
  const known = new Map<string, ToolFacts>();
  return {
    find: (name) => known.get(name),
    learn(tools) {
      for (const [name, tool] of Object.entries(tools)) {
        const facts = factsOfTool(tool);
        if (facts !== undefined) known.set(name, facts);
      }
    },
  };
}
