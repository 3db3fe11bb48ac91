export type { PlayedAnswer, PlayedCall } from "../models/played-answer.ts";
export { type MemoryConversation, memoryConversation } from "./memory-conversation.ts";
export { type PlaybackOptions, type PlaybackReport, playback } from "./playback.ts";
export type {
  Script,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptedStep,
} from "./scripted-model.ts";
export { scriptedModel } from "./scripted-model.ts";
