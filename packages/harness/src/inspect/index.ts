export type { Check, DoctorOptions } from "./doctor.ts";
export { examine } from "./doctor.ts";
export type { PromptOptions, ThreadPrompt } from "./thread-prompt.ts";
export { threadPrompt } from "./thread-prompt.ts";
