/** What goes wrong with a PostgreSQL, for the tests of other packages. */
export { openHasty, type PostgresProxy, startPostgresProxy } from "./postgres-proxy.ts";
export { replayed, sqlOn, startMovingPostgres, startStandby } from "./postgres-standby.ts";
