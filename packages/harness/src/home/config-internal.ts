/** What our own packages use of the settings: loads the schema, but no agent. No promise is made about it. */

export {
  summarizationForThreads,
  summarizationFromFile,
  summarizationFromOptions,
  summarizationOptions,
} from "../compaction/summarization.ts";
export { nearest } from "../nearest.ts";
export { parseConfig, requestWindow, workspaceQuota } from "./config.ts";
export {
  answerProblem,
  type ConfigFinding,
  checkConfig,
  configJsonSchema,
  rewriteConfig,
  type StarterAnswers,
  starterConfig,
} from "./config-file.ts";
export { configSchema } from "./schema.ts";
