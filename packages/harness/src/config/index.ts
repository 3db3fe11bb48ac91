export { CONFIG_NAME, type LoadedConfig, type LoadOptions, loadConfig } from "./load.ts";
export { nearest } from "./nearest.ts";
export { type ParsedConfig, type ParseOptions, parseConfig } from "./parse.ts";
export { CONFIG_VERSION, type ConfigFile, configSchema } from "./schema.ts";
export {
  type PruneSettings,
  SettingsError,
  type Summarization,
  type SummarizationOptions,
  summarizationFromFile,
  summarizationFromOptions,
} from "./summarization.ts";
