export type { IndexProgress } from "../recall/index-steps.ts";
export type { Check, DoctorOptions } from "./doctor.ts";
export { examineHome } from "./doctor.ts";
