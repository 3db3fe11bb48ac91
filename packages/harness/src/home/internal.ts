/** What our own packages use to find, trust and open a home. Loads neither the schema nor an agent. No promise is made about it. */
export { HOME_NAME } from "../home-folders.ts";
export type { ChosenConfig, ChosenHome } from "./find.ts";
export { CONFIG_NAME, type HomeOwner, personHere, readConfig } from "./find.ts";
export { type Home, isStoreThere, type LocatedHome, locateHome, requireDirectory } from "./open-home.ts";
export { admitConfig, admitHome, admitWorkspace, makeHome, refusalOf, type WorkspaceAdmission } from "./trust.ts";
