/** The whole engine, one namespace for each subpath: `compaction.planCompaction` is `planCompaction` of `./compaction`. */
export * as compaction from "./compaction/index.ts";
export * as errors from "./errors.ts";
export * as log from "./log/index.ts";
export * as memory from "./memory/index.ts";
export * as message from "./message/index.ts";
export * as pricing from "./pricing/index.ts";
export * as prompt from "./prompt/index.ts";
export * as recall from "./recall/index.ts";
export * as summary from "./summary/index.ts";
export * as tokens from "./tokens/index.ts";
