import { examine } from "palimpsest/inspect";
import { openStore } from "palimpsest/stores";
import type { Run } from "../command.ts";
import { standsAlready, storeOf } from "../home.ts";

export const run: Run = async ({ options }, context) => {
  const { home, format, output } = context;
  // A configuration that can't be read is a check of its own; the home's own database is looked at all the same.
  const target = await storeOf(context).catch(() => storeOf({ ...context, store: `${home}/palimpsest.db` }));
  const checks = await examine({
    home,
    cwd: process.cwd(),
    env: process.env,
    open: standsAlready(target) ? () => openStore(target) : null,
    derived: options["rebuild"] ? "rebuild" : "skip",
  });
  if (format === "json") await output.json({ checks });
  else for (const { name, ok, detail } of checks) await output.line(`${ok ? "ok  " : "BAD "} ${name}: ${detail}`);
  return checks.every(({ ok }) => ok) ? 0 : 1;
};
