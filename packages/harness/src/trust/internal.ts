/** What our own packages use of this folder; it has no public names. No promise is made about it. */
export { type ChosenHome, HOME_NAME } from "./choose-home.ts";
export { makeHome } from "./make-home.ts";
export { type Person, personHere } from "./person.ts";
export { admitWorkspace, type WorkspaceAdmission } from "./workspace.ts";
