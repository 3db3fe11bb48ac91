/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { type MemoryCommand, runMemoryCommand } from "./commands.ts";
export { eraseMemoryFiles, everyMemoryFile, MEMORY_COMMAND, userMemoryFiles } from "./create-memory-tool.ts";
