export {
  type PruneSettings,
  SettingsError,
  type Summarization,
  type SummarizationOptions,
} from "../compaction/summarization.ts";
export type { IndexProgress } from "../recall/stored-index.ts";
export type { DeletedThread } from "../thread/handle.ts";
export type { RequestWindow } from "./config.ts";
export {
  type LoadConfigOptions,
  type LoadedConfig,
  loadConfig,
  type ParsedConfig,
  type ParseOptions,
  parseConfig,
} from "./config.ts";
export type { ConfigCheckOptions, ConfigFinding, RewrittenConfig, StarterAnswers } from "./config-file.ts";
export { configJsonSchema } from "./config-file.ts";
export type { ThreadCost } from "./cost.ts";
export type { DeepAgentOptions } from "./create-deep-agent.ts";
export type { DoctorOptions, HomeCheck } from "./doctor.ts";
export { checkHome } from "./doctor.ts";
export { type ChosenConfig, type ConfigQuestion, HomeError, readConfig } from "./find.ts";
export type { LogLevel } from "./from-config.ts";
export { type ConfiguredAgent, type ConfiguredAgentOptions, createAgentFromConfig } from "./from-config.ts";
export { deleteThreadWithFiles } from "./home-acts.ts";
export {
  type Home,
  type HomeAgentOptions,
  type HomeOptions,
  type LocatedHome,
  openHome,
} from "./open-home.ts";
export type { Probed } from "./probe-model.ts";
export { type ConfigFile, configSchema } from "./schema.ts";
export type { Admission } from "./trust.ts";
