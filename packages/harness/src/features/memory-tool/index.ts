export type { MemoryCommand, MemoryEntry, MemoryFiles, NamedEntry, Segments } from "./commands.ts";
export type { MemoryLimits } from "./create-memory-tool.ts";
export { createMemoryTool, type MemoryTool, type MemoryToolOptions } from "./create-memory-tool.ts";
