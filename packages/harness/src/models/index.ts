export type { Cost, GivenPrices, ModelEntry, ModelPrices, TokenPrices } from "./facts.ts";
export { offlineModel } from "./offline/offline-model.ts";
export type { ModelFallback, ModelOffer, ResolvedModel } from "./resolve.ts";
export { ModelError, resolveModel } from "./resolve.ts";
export type { ModelCounter, ModelName } from "./tokenizers.ts";
export { counterFor, exactCounterFor } from "./tokenizers.ts";
