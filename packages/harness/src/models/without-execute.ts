/** Tools as the model sees them. The SDK must not run them: who runs a tool writes the answer that asked for it first. */
import type { ToolSet } from "ai";

export function withoutExecute(tools: ToolSet): ToolSet {
  const bare = Object.entries(tools).map(([name, { execute: _, needsApproval: __, ...tool }]) => [name, tool]);
  return Object.fromEntries(bare) as ToolSet;
}
