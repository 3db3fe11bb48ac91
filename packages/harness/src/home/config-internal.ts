/** What our own packages use of the settings: loads the schema, but no agent. No promise is made about it. */

export {
  summarizationForThreads,
  summarizationFromFile,
  summarizationFromOptions,
  summarizationOptions,
} from "../compaction/summarization.ts";
export { nearest } from "../nearest.ts";
export { checkConfig } from "./check.ts";
export { configJsonSchema } from "./json-schema.ts";
export { parseConfig } from "./parse.ts";
export { requestWindow } from "./request-window.ts";
export { rewriteConfig } from "./rewrite.ts";
export { configSchema } from "./schema.ts";
export { answerProblem, starterConfig } from "./starter.ts";
export { workspaceQuota } from "./workspace-quota.ts";
