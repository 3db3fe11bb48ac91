export type { MemoryCommand } from "./commands.ts";
export { createMemoryTool, type MemoryTool, type MemoryToolOptions } from "./create-memory-tool.ts";
export type { MemoryEntry, MemoryFiles, NamedEntry, Segments } from "./files.ts";
export type { MemoryLimits } from "./folder-files.ts";
