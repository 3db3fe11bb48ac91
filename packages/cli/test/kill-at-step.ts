/**
 * Loaded into a command before anything else: counts its steps (every change to the disk: a commit, a file written, renamed
 * or removed) and kills it, as kill -9 does, right before the one that KILL_AT names. What came before has happened.
 */
import { appendFileSync, promises } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync } from "node:sqlite";

const at = Number(process.env["KILL_AT"]);
let steps = 0;

function step(name: string): void {
  steps += 1;
  if (process.env["STEPS_FILE"]) appendFileSync(process.env["STEPS_FILE"], `${name}\n`);
  if (steps === at) process.kill(process.pid, "SIGKILL");
}

const files = promises as unknown as Record<string, (...args: unknown[]) => unknown>;
for (const name of ["rm", "rename", "writeFile", "mkdir", "cp", "copyFile", "unlink"]) {
  const original = files[name]!;
  files[name] = (...args) => {
    step(`${name} ${String(args[0])}`);
    return original(...args);
  };
}
const { open } = promises;
files["open"] = (...args) => {
  if (/[wax+]/.test(String(args[1] ?? "r"))) step(`open ${String(args[0])}`);
  return (open as (...given: unknown[]) => unknown)(...args);
};
syncBuiltinESMExports();

const { exec, prepare } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  if (/^COMMIT/i.test(sql)) step("commit");
  return exec.call(this, sql);
};
// A commit may be a prepared statement; those that change something and stand alone commit themselves.
DatabaseSync.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  const isCommit = /^COMMIT/i.test(sql);
  if (!isCommit && !/^\s*(?:INSERT|UPDATE|DELETE|PRAGMA wal_checkpoint)/i.test(sql)) return statement;
  for (const name of ["run", "get"] as const) {
    const original = statement[name].bind(statement) as (...values: unknown[]) => unknown;
    statement[name] = ((...values: unknown[]) => {
      if (isCommit || !this.isTransaction) step(sql.trim().slice(0, 40));
      return original(...values);
    }) as never;
  }
  return statement;
};
