/** Tools as the model sees them. The SDK must not run them: the answer that asks for a tool is stored before the tool runs. */
import type { ToolSet } from "ai";

export function withoutExecute(tools: ToolSet): ToolSet {
  const bare = Object.entries(tools).map(([name, { execute: _, needsApproval: __, ...tool }]) => [name, tool]);
  return Object.fromEntries(bare) as ToolSet;
}
