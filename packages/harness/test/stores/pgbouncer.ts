/** PgBouncer in transaction mode before a test's PostgreSQL, where the machine has one: a connection serves many clients. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { PostgresServer } from "@palimpsest/testing/internal/postgres-server";

const BINARY = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find((path) => existsSync(path));

/** Why there is none; null: there is one. */
export const noPgBouncer = BINARY === undefined ? "PgBouncer isn't installed here" : null;

export interface PgBouncer {
  readonly url: string;
  stop(): Promise<void>;
}

/** So few connections that clients have to share them. */
const CONNECTIONS = 3;

export async function startPgBouncer(server: PostgresServer): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), "pal-pgb-"));
  chmodSync(folder, 0o777);
  const settings = join(folder, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `* = host=${server.folder} user=postgres`,
    "[pgbouncer]",
    `unix_socket_dir = ${folder}`,
    "listen_port = 6432",
    "auth_type = any",
    "pool_mode = transaction",
    `default_pool_size = ${CONNECTIONS}`,
    "max_client_conn = 200",
  ];
  writeFileSync(settings, `${lines.join("\n")}\n`);
  // It refuses to run as root.
  const account = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const child = spawn(BINARY!, ["-q", settings], { ...account, cwd: folder, stdio: "ignore" });
  const ended = once(child, "exit");
  const socket = join(folder, ".s.PGSQL.6432");
  while (!(await accepts(socket))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended at once with ${child.exitCode}`);
    await pause(20);
  }
  return {
    url: `postgres://postgres@localhost:6432/postgres?host=${encodeURIComponent(folder)}`,
    async stop() {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function accepts(socket: string): Promise<boolean> {
  const connection = createConnection(socket);
  return new Promise((answer) => {
    connection.once("error", () => answer(false));
    connection.once("connect", () => {
      connection.destroy();
      answer(true);
    });
  });
}
