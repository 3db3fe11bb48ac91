/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { mcpTools } from "../features/mcp/middleware.ts";
export { switchSkill } from "../features/skills/middleware.ts";
export { forgetWindows, windowsOf } from "../models/tokenizers.ts";
export { threadCost } from "./cost.ts";
export { eventLog } from "./from-config.ts";
export {
  compactInHome,
  deleteInHome,
  forkInHome,
  freeForkName,
  MOST_TITLE,
  renameThread,
  takeBackInHome,
  titleFrom,
} from "./home-acts.ts";
export { type HomeParts, homeOfParts } from "./home-of-parts.ts";
export { probeModel } from "./probe-model.ts";
