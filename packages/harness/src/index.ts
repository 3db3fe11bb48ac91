export type {
  Agent,
  AgentEvent,
  AgentOptions,
  AgentStream,
  DeepAgentOptions,
  RunEnd,
  RunResult,
} from "./agent/index.ts";
export { AgentError, createAgent, createDeepAgent } from "./agent/index.ts";
