/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { heldText } from "./leases.ts";
export { storeTarget } from "./open.ts";
