export { buildPrompt, type Prompt, type PromptOptions, type SizedEntry } from "./prompt.ts";
export type { AsSent } from "./sizer.ts";
export {
  type AccountOf,
  type BindReasoning,
  createSizer,
  type FixedSize,
  type PartSize,
  type Sizer,
  type SizerOptions,
} from "./sizer.ts";
