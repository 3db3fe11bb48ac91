/**
 * What a tool says of itself, where the AI SDK has a place for it: `metadata`, which no model sees. Whoever defines a tool
 * gives its facts there; whoever needs them reads them from the tool.
 */
import type { FindToolFacts, ToolFacts } from "@palimpsest/core/message";
import type { Tool, ToolSet } from "ai";

const KEY = "palimpsest";

/** The `metadata` of a tool that has these facts: `tool({ ..., metadata: toolFacts({ act: "read" }) })`. */
export function toolFacts(facts: ToolFacts): { readonly [KEY]: ToolFacts & Record<string, string> } {
  return { [KEY]: { ...facts } };
}

export function factsOfTool(tool: Pick<Tool, "metadata"> | undefined): ToolFacts | undefined {
  const facts = tool?.metadata?.[KEY];
  return typeof facts === "object" && facts !== null && "act" in facts ? (facts as unknown as ToolFacts) : undefined;
}

/** Of the tools as they are when it is asked. */
export function factsAmong(tools: () => ToolSet): FindToolFacts {
  return (name) => {
    const given = tools();
    return Object.hasOwn(given, name) ? factsOfTool(given[name]) : undefined;
  };
}
