export { createDeepAgent, type DeepAgentOptions } from "./create-deep-agent.ts";
export { type ConfiguredAgent, type ConfiguredAgentOptions, createAgentFromConfig } from "./from-config.ts";
export { cleanThreadFiles, type DeletedThread, deleteThreadWithFiles } from "./thread-files.ts";
