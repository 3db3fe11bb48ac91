import { startPostgres } from "../testing/postgres-server.ts";
import { storeConformance } from "./conformance.ts";
import { openPostgres } from "./postgres.ts";

storeConformance("PostgreSQL", async () => {
  const server = await startPostgres();
  return { connect: () => openPostgres(server.url()), dispose: () => server.stop() };
});
