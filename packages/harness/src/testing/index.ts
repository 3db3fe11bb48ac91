export type { PlayedAnswer, PlayedCall } from "../models/played-answer.ts";
export { type LongSummaryOptions, type LongSummaryReport, summarizeLongThread } from "./long-summary.ts";
export { memoryConversation } from "./memory-conversation.ts";
export { type PlaybackOptions, type PlaybackReport, type PlayedThread, playback } from "./playback.ts";
export type { Turn } from "./provider/conversation.ts";
export type { Fault } from "./provider/fault.ts";
export type { Failure, OverflowStyle, ProtocolName } from "./provider/protocol.ts";
export type {
  ProviderRequest,
  ProviderServer,
  ProviderServerOptions,
  RecordedRequest,
  Verdict,
} from "./provider-server.ts";
export { startProviderServer } from "./provider-server.ts";
export type {
  Script,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptedStep,
} from "./scripted-model.ts";
export { scriptedModel } from "./scripted-model.ts";
export { brokenSettings } from "./settings-judge.ts";
export { inUnit, playSettings, type SettingsPlayback, type SettingsReport } from "./settings-playback.ts";
export { misbehavingWriter, SUMMARIZERS, type SummarizerName } from "./summarizers.ts";
