/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { admitConfig, admitHome, refusalOf } from "./admission.ts";
export { checkConfig } from "./check.ts";
export { CONFIG_NAME } from "./find.ts";
export { nearest } from "./nearest.ts";
export { requestWindow } from "./request-window.ts";
export { rewriteConfig } from "./rewrite.ts";
export { answerProblem, starterConfig } from "./starter.ts";
export {
  summarizationForThreads,
  summarizationFromFile,
  summarizationFromOptions,
  summarizationOptions,
} from "./summarization.ts";
export { workspaceQuota } from "./workspace-quota.ts";
