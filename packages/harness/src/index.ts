export * from "./agent/index.ts";
export { type ModelSummarizeOptions, modelSummarize } from "./compaction/model-summarize.ts";
export type { Memory, MemoryOptions } from "./features/memory/create-memory.ts";
export { createMemory } from "./features/memory/create-memory.ts";
export * from "./features/memory/index.ts";
export * from "./features/memory-tool/index.ts";
export * from "./features/subagents/index.ts";
export type { DeepAgentOptions } from "./home/create-deep-agent.ts";
export { createDeepAgent } from "./home/create-deep-agent.ts";
