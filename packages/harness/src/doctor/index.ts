export type { Check, DoctorOptions } from "./doctor.ts";
export { examine } from "./doctor.ts";
