export { type FileCopier, forkWithFiles } from "../thread/fork.ts";
export { ToolFailure } from "./tool-failure.ts";
export { VIRTUAL_ROOT } from "./virtual-path.ts";
export { prepareWorkspace, type Quota, threadWorkspace, type Workspace } from "./workspace.ts";
export { type WorkspaceToolOptions, type WorkspaceTools, workspaceTools } from "./workspace-tools.ts";
