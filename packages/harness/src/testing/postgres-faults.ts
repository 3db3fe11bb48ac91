/** What goes wrong with a PostgreSQL, for the tests of other packages. */
export { startPostgresProxy } from "./postgres-proxy.ts";
export { startMovingPostgres, startStandby } from "./postgres-standby.ts";
