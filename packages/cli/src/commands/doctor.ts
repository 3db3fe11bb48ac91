import { examine } from "palimpsest/inspect";
import { openSqlite } from "palimpsest/stores";
import type { Run } from "../command.ts";
import { databasePath } from "../home.ts";

export const run: Run = async ({ options }, { home, format, output }) => {
  const checks = await examine({
    home,
    cwd: process.cwd(),
    env: process.env,
    open: () => openSqlite({ path: databasePath(home) }),
    heads: options["rebuild"] ? "repair" : "skip",
  });
  if (format === "json") await output.json({ checks });
  else for (const { name, ok, detail } of checks) await output.line(`${ok ? "ok  " : "BAD "} ${name}: ${detail}`);
  return checks.every(({ ok }) => ok) ? 0 : 1;
};
