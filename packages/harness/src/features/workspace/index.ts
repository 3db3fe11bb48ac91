export { type FileCopier, forkWithFiles } from "../../thread/handle.ts";
export { VIRTUAL_ROOT } from "./inside.ts";
export { type WorkspaceToolOptions, type WorkspaceTools, workspaceTools } from "./middleware.ts";
export { ToolFailure } from "./tool-failure.ts";
export { prepareWorkspace, type Quota, threadWorkspace, type Workspace } from "./workspace.ts";
