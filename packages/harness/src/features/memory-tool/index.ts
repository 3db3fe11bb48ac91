export type { MemoryCommand, MemoryEntry, MemoryFiles } from "./commands.ts";
export type { MemoryLimits } from "./create-memory-tool.ts";
export { createMemoryTool, type MemoryTool, type MemoryToolOptions } from "./create-memory-tool.ts";
