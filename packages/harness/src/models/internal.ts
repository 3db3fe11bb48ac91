/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { explainMissing } from "../optional-package.ts";
export {
  addUsage,
  bindsReasoning,
  cachePrices,
  costOf,
  keyOf,
  knownPrices,
  knownWindow,
  NO_USAGE,
  OFFLINE,
  PRICES_AS_OF,
  pricesOf,
  pricingOf,
  readUsage,
  savingOf,
  type Usage,
  windowNow,
  windowOf,
} from "./facts.ts";
export { offeredModels } from "./resolve.ts";
export { exactCounter } from "./tokenizers.ts";
export { hideSecrets, secretsOf } from "./wrap.ts";
