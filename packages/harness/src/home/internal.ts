/** What our own packages use to find, trust and open a home. Loads neither the schema nor an agent. No promise is made about it. */
export { HOME_NAME } from "../home-folders.ts";
export { admitConfig, admitHome, refusalOf } from "./admission.ts";
export type { ChosenHome } from "./choose-home.ts";
export { CONFIG_NAME, readConfig } from "./find.ts";
export { makeHome } from "./make-home.ts";
export { type Home, isStoreThere, type LocatedHome, locateHome, requireDirectory } from "./open-home.ts";
export { type Person, personHere } from "./person.ts";
export { admitWorkspace, type WorkspaceAdmission } from "./workspace.ts";
