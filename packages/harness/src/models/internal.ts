/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { explainMissing } from "../optional-package.ts";
export { bindsReasoning } from "./binds-reasoning.ts";
export { cachePrices, pricingOf } from "./cache-prices.ts";
export { costOf, pricesOf, savingOf } from "./cost.ts";
export { OFFLINE } from "./entry.ts";
export { hideSecrets, secretsOf } from "./hide-secrets.ts";
export { knownPrices, PRICES_AS_OF } from "./known-prices.ts";
export { knownWindow } from "./known-windows.ts";
export { offeredModels } from "./offers.ts";

export { keyOf } from "./providers.ts";
export { readUsage } from "./read-usage.ts";

export { addUsage, NO_USAGE } from "./usage.ts";
export { windowNow } from "./window.ts";
