export type { PromptOptions, ThreadPrompt } from "./thread-prompt.ts";
export { threadPrompt } from "./thread-prompt.ts";
