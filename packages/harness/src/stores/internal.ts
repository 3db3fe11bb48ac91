/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { asUser } from "./driver-rules.ts";
export { heldText, LEASE_TTL_MS, withLease } from "./leases.ts";
export { storeTarget } from "./open.ts";
export { backOffMs } from "./outbox.ts";
export { POOL } from "./search-tables.ts";
