/** Where a test file keeps stores of both engines: a folder and a PostgreSQL, which are there for its tests and gone behind them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

export const ENGINES = ["SQLite", "PostgreSQL"] as const;

interface BothEngines {
  readonly folder: string;
  /** To be asked for inside a test: before the first one it doesn't run. */
  server(): PostgresServer;
  /** What `openStore` takes: the same name is the same store. */
  target(engine: (typeof ENGINES)[number], name: string): string;
  /** One that no test had. */
  fresh(engine: (typeof ENGINES)[number]): string;
}

export function bothEngines(): BothEngines {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-engines-"));
  let server: PostgresServer;
  let count = 0;
  before(async () => {
    server = await startPostgres();
  });
  after(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const target: BothEngines["target"] = (engine, name) =>
    engine === "SQLite" ? join(folder, `${name}.db`) : `${server.url()}&schema=${name}`;
  return {
    folder,
    server: () => server,
    target,
    fresh(engine) {
      count += 1;
      return target(engine, `fresh_${count}`);
    },
  };
}
