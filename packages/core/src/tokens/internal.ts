/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { fit, resumeAccount, viewKey } from "./account.ts";
export { endpointKey, endpointsWith, learnedLimit, learnLimit, sampled } from "./counter.ts";
export { imageSize } from "./images.ts";
