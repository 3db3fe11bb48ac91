export * from "./agent/index.ts";
export type { DeepAgentOptions } from "./home/create-deep-agent.ts";
export { createDeepAgent } from "./home/create-deep-agent.ts";
export type { Memory, MemoryOptions } from "./memory/create-memory.ts";
export { createMemory } from "./memory/create-memory.ts";
export * from "./memory/index.ts";
export * from "./memory-tool/index.ts";
export * from "./subagents/index.ts";
