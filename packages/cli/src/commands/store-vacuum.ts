import { existsSync, statSync } from "node:fs";
import type { Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { withStore } from "../home/home.ts";
import { megabytes } from "../terminal/megabytes.ts";

export const run: Run = async (_input, context) => {
  const { located, output, format } = context;
  const target = await located.storeTarget();
  if (!(await located.hasStore())) throw new Failure("missing", `There is no database at ${target}.`);
  const before = sizeOf(target);
  output.progress(
    `${target}: rewriting ${before === null ? "its tables" : megabytes(before)} (Ctrl-C leaves it as it is)`,
  );
  await withStore(target, async ({ upkeep }) => upkeep?.vacuum());
  const after = sizeOf(target);
  if (format === "json") await output.json({ before, after });
  else if (before === null || after === null) await output.line("Freed space was given back to the server.");
  else await output.line(`${target}: ${megabytes(before)} -> ${megabytes(after)}.`);
  return 0;
};

/** Null for a server. */
function sizeOf(target: string): number | null {
  return existsSync(target) ? statSync(target).size : null;
}
