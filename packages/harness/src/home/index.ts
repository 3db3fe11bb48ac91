export { SettingsError, type Summarization, type SummarizationOptions } from "../compaction/summarization.ts";
export { type WorkspaceToolOptions, type WorkspaceTools, workspaceTools } from "../features/workspace/middleware.ts";
export { ToolFailure } from "../features/workspace/tool-failure.ts";
export { prepareWorkspace, type Quota, threadWorkspace, type Workspace } from "../features/workspace/workspace.ts";
export { type FileCopier, forkWithFiles } from "../thread/handle.ts";
export {
  type LoadConfigOptions,
  type LoadedConfig,
  loadConfig,
  type ParsedConfig,
  type ParseOptions,
  parseConfig,
} from "./config.ts";
export type { ThreadCost } from "./cost.ts";
export type { DoctorOptions, HomeCheck } from "./doctor.ts";
export { checkHome } from "./doctor.ts";
export { HomeError } from "./find.ts";
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
export type { ConfigFile } from "./schema.ts";
export type { Admission } from "./trust.ts";
