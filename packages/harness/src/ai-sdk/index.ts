export { type CompactionMiddlewareOptions, compactionMiddleware } from "./compaction-middleware.ts";
export { type PalimpsestOptions, type PalimpsestSteps, palimpsest, type StepSettings } from "./steps.ts";
