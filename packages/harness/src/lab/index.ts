export type { Dialog, DialogQuestion, DialogTurn } from "./dialogs.ts";
export { builtInPolicies } from "./field.ts";
export { type LabOptions, type LabReport, type LabRow, runLab } from "./lab.ts";
export type { Policy, Prepared, View } from "./policy.ts";
export { readTranscripts } from "./read-transcripts.ts";
export { labPage } from "./report-page.ts";
export type { Moment, Played } from "./simulate.ts";
export type { Transcript, Turn } from "./transcript.ts";
