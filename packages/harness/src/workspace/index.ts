export { copyWorkspace } from "./copy-workspace.ts";
export { HOST_WARNING } from "./host-shell.ts";
export type { Remember } from "./tools/present-files.ts";
export type { SeenImage } from "./tools/view-image.ts";
export { type Place, type Resolved, type RootName, resolveVirtual, VIRTUAL_ROOT } from "./virtual-path.ts";
export { prepareWorkspace, type Root, subagentWorkspace, threadWorkspace, type Workspace } from "./workspace.ts";
export { imageTools, type WorkspaceToolOptions, type WorkspaceTools, workspaceTools } from "./workspace-tools.ts";
