export { builtInPolicies } from "./field.ts";
export { type LabOptions, type LabReport, type LabRow, runLab } from "./lab.ts";
export { ours } from "./ours.ts";
export { batchPrune, maskEachStep, neverPrune, summarizeAt } from "./policies.ts";
export type { Policy, Prepared, View } from "./policy.ts";
export { labPage } from "./report-page.ts";
export { type Moment, type Played, play } from "./simulate.ts";
export { fitTo, type Reported, type Transcript, type Turn, transcriptOf } from "./transcript.ts";
