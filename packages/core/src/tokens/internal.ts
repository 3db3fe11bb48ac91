/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { viewKey } from "./account.ts";
export { fit } from "./budget.ts";
export { imageSize } from "./images.ts";
export { endpointKey, endpointsWith, learnedLimit, learnLimit } from "./limits.ts";
export { resumeAccount } from "./resume.ts";
