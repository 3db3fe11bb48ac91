/** What a command prints with `--json` and the gateway answers to the route of the same name: the same document, made here. */
export { threadLines } from "../inspect/thread-lines.ts";
export { threadWindow } from "../inspect/thread-window.ts";
export {
  compactDocument,
  deleteDocument,
  forkDocument,
  pinDocument,
  redactDocument,
  renameDocument,
  undoneDocument,
} from "./acts.ts";
export { skillsDocument, subagentsDocument } from "./catalog.ts";
export { modelsDocument } from "./models.ts";
export { contextDocument, requestDocument, searchDocument, viewDocument } from "./prompts.ts";
export { costSince, runDocument } from "./run.ts";
export { folderDocument, importDocument, replayDocument, threadDocument, verifyDocument } from "./threads.ts";
export { timelineDocument } from "./timeline.ts";
export { transcriptDocument } from "./transcript.ts";
