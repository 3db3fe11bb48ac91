export type { Cost, GivenPrices, ModelEntry, ModelPrices, ModelsConfig, TokenPrices } from "./facts.ts";
export { type ModelWindow, windowOf } from "./facts.ts";
export { offlineModel } from "./offline/offline-model.ts";
export type { ModelFallback, ModelOffer, ResolvedModel, Surroundings } from "./resolve.ts";
export { ModelError, resolveModel } from "./resolve.ts";
export type { Encoding, ModelCounter, ModelName } from "./tokenizers.ts";
export { counterFor, exactCounter, exactCounterFor } from "./tokenizers.ts";
