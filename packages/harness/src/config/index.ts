export { type Admission, admitConfig, admitHome, refusalOf } from "./admission.ts";
export { type CheckOptions, type ConfigFinding, checkConfig } from "./check.ts";
export { type ChosenConfig, CONFIG_NAME, type ConfigQuestion, findConfig } from "./find.ts";
export { configJsonSchema } from "./json-schema.ts";
export { type LoadedConfig, type LoadOptions, loadConfig, readConfig } from "./load.ts";
export { isLogged, type LogLevel } from "./log-level.ts";
export { nearest } from "./nearest.ts";
export { type ParsedConfig, type ParseOptions, parseConfig } from "./parse.ts";
export { type RequestWindow, requestWindow } from "./request-window.ts";
export { type RewrittenConfig, rewriteConfig } from "./rewrite.ts";
export { CONFIG_VERSION, type ConfigFile, configSchema } from "./schema.ts";
export { answerProblem, type StarterAnswers, starterConfig } from "./starter.ts";
export {
  type PruneSettings,
  SettingsError,
  type Summarization,
  type SummarizationOptions,
  summarizationForThreads,
  summarizationFromFile,
  summarizationFromOptions,
} from "./summarization.ts";
export { workspaceQuota } from "./workspace-quota.ts";
