/** What a command prints with `--json` and the gateway answers to the route of the same name: the same document, made here. */
export { threadLines } from "../thread/thread-lines.ts";
export { threadWindow } from "../thread/thread-window.ts";
export { skillsDocument, subagentsDocument } from "./catalog.ts";
export { modelsDocument } from "./models.ts";
export { costSince, runDocument } from "./run.ts";
export { folderDocument, importDocument } from "./threads.ts";
export { transcriptDocument } from "./transcript.ts";
