export type { Agent, AgentEvent, AgentOptions, AgentStream, RunEnd, RunResult } from "./agent/index.ts";
export { AgentError, createAgent } from "./agent/index.ts";
export type { DeepAgentOptions } from "./home/create-deep-agent.ts";
export { createDeepAgent } from "./home/create-deep-agent.ts";
export type { Memory, MemoryOptions } from "./memory/create-memory.ts";
export { createMemory } from "./memory/create-memory.ts";
