export {
  type PruneSettings,
  SettingsError,
  type Summarization,
  type SummarizationOptions,
} from "../compaction/summarization.ts";
export type { IndexProgress } from "../recall/index-steps.ts";
export type { DeletedThread } from "../thread/delete.ts";
export type { Admission } from "./admission.ts";
export type { CheckOptions, ConfigFinding } from "./check.ts";
export type { DeepAgentOptions } from "./create-deep-agent.ts";
export type { Check, DoctorOptions } from "./doctor.ts";
export { checkHome } from "./doctor.ts";
export { type ChosenConfig, type ConfigQuestion, readConfig } from "./find.ts";
export { type ConfiguredAgent, type ConfiguredAgentOptions, createAgentFromConfig } from "./from-config.ts";
export { HomeError } from "./home-error.ts";
export { configJsonSchema } from "./json-schema.ts";
export { type LoadedConfig, type LoadOptions, loadConfig } from "./load.ts";
export type { LogLevel } from "./log-level.ts";
export {
  type Home,
  type HomeAgentOptions,
  type HomeOptions,
  type LocatedHome,
  openHome,
} from "./open-home.ts";
export { type ParsedConfig, type ParseOptions, parseConfig } from "./parse.ts";
export type { Probed } from "./probe-model.ts";
export type { RequestWindow } from "./request-window.ts";
export type { RewrittenConfig } from "./rewrite.ts";
export { type ConfigFile, configSchema } from "./schema.ts";
export type { StarterAnswers } from "./starter.ts";
export type { ThreadCost } from "./thread-cost.ts";
export { deleteThreadWithFiles } from "./thread-files.ts";
