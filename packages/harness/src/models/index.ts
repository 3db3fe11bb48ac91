export type { Encoding, ModelCounter, ModelName } from "./tokenizers.ts";
export { counterFor, exactCounter, exactCounterFor } from "./tokenizers.ts";
