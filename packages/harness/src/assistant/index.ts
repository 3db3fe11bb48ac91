export type { DeletedThread } from "../thread/delete.ts";
export type { DeepAgentOptions } from "./create-deep-agent.ts";
export { type ConfiguredAgent, type ConfiguredAgentOptions, createAgentFromConfig } from "./from-config.ts";
export { HomeError } from "./home-error.ts";
export {
  type Home,
  type HomeAgentOptions,
  type HomeOptions,
  type LocatedHome,
  openHome,
} from "./open-home.ts";
export type { Probed } from "./probe-model.ts";
export type { ThreadCost } from "./thread-cost.ts";
export { deleteThreadWithFiles } from "./thread-files.ts";
