export { type FileCopier, forkWithFiles } from "../thread/handle.ts";
export { VIRTUAL_ROOT } from "./inside.ts";
export { ToolFailure } from "./tool-failure.ts";
export { type WorkspaceToolOptions, type WorkspaceTools, workspaceTools } from "./tools-writing.ts";
export { prepareWorkspace, type Quota, threadWorkspace, type Workspace } from "./workspace.ts";
