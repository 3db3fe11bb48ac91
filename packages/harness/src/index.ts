export type { Agent, AgentEvent, AgentOptions, AgentStream, RunEnd, RunResult } from "./agent/index.ts";
export { AgentError, createAgent } from "./agent/index.ts";
export { createDeepAgent, type DeepAgentOptions } from "./assistant/index.ts";
