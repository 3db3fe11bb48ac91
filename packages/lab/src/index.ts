export type { Dialog, DialogQuestion, DialogTurn } from "./replay/dialogs.ts";
export { builtInPolicies } from "./replay/field.ts";
export { type LabOptions, type LabReport, type LabRow, runLab } from "./replay/lab.ts";
export type { Policy, Prepared, View } from "./replay/policy.ts";
export { readTranscripts } from "./replay/read-transcripts.ts";
export { renderReport } from "./replay/report-page.ts";
export type { Moment, Played } from "./replay/simulate.ts";
export type { Transcript, Turn } from "./replay/transcript.ts";
