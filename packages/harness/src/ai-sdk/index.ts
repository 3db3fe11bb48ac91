export { type CompactionMiddlewareOptions, compactionMiddleware } from "./compaction-middleware.ts";
export { type StepSettings, type ThreadSettings, type ThreadSettingsOptions, threadSettings } from "./steps.ts";
