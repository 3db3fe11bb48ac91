export { createDeepAgent, type DeepAgentOptions } from "./create-deep-agent.ts";
export { eventLog } from "./event-log.ts";
export { type ConfiguredAgent, type ConfiguredAgentOptions, createAgentFromConfig } from "./from-config.ts";
export { HomeError } from "./home-error.ts";
export {
  type Home,
  type HomeAgentOptions,
  type HomeOptions,
  isStoreThere,
  type LocatedHome,
  locateHome,
  openHome,
} from "./open-home.ts";
export { type Probed, probeModel } from "./probe-model.ts";
export { type ThreadCost, threadCost } from "./thread-cost.ts";
export { cleanThreadFiles, type DeletedThread, deleteThreadWithFiles } from "./thread-files.ts";
