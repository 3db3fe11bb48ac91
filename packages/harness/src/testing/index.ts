export type { PlayedAnswer, PlayedCall } from "../models/played-answer.ts";
export type {
  Script,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptedStep,
} from "./scripted-model.ts";
export { scriptedModel } from "./scripted-model.ts";
