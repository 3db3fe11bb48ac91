export type { Check, DoctorOptions } from "./doctor.ts";
export { examineHome } from "./doctor.ts";
