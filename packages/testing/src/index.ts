export type { PlayedAnswer, PlayedCall } from "palimpsest/internal/played-answer";
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
