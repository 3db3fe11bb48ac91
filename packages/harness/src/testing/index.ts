export type { PlayedAnswer, PlayedCall } from "../models/offline/played-answer.ts";
export type { LongSummaryOptions, LongSummaryReport } from "./long-summary.ts";
export type { PlaybackOptions, PlaybackReport, PlayedThread } from "./playback.ts";
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
export type { SettingsPlayback, SettingsReport } from "./settings-playback.ts";
export type { SummarizerName } from "./summarizers.ts";
