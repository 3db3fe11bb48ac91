export { type ChosenHome, chooseHome, HOME_NAME } from "./choose-home.ts";
export { makeHome } from "./make-home.ts";
export { type Person, personHere } from "./person.ts";
export type { Power, Standing, Verdict } from "./standing.ts";
export { admitWorkspace, type WorkspaceAdmission } from "./workspace.ts";
