/** What the processes of a PostgreSQL that a bench started have taken of the processor, where the system says so (Linux). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PostgresServer } from "@palimpsest/testing/internal/postgres-server";

/** Milliseconds so far, of those that run. */
export function serverCpu({ folder }: PostgresServer): () => number {
  if (process.platform !== "linux") return () => 0;
  const main = readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0]!;
  return () =>
    readFileSync(`/proc/${main}/task/${main}/children`, "utf8")
      .split(" ")
      .filter((child) => child !== "" && existsSync(`/proc/${child}/schedstat`))
      .reduce((sum, child) => sum + Number(readFileSync(`/proc/${child}/schedstat`, "utf8").split(" ")[0]) / 1e6, 0);
}
