export type { Check, DoctorOptions, IndexProgress } from "./doctor.ts";
export { examineHome } from "./doctor.ts";
