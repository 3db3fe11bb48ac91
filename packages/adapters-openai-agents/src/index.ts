export { type FittingModelOptions, fittingModel } from "./fitting-model.ts";
export { PalimpsestSession, type PalimpsestSessionOptions } from "./palimpsest-session.ts";
