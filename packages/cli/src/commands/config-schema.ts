import { configJsonSchema } from "palimpsest/internal/config";
import type { Run } from "../command/command.ts";

/** JSON with and without `--json`: it is meant for an editor or another program. */
export const run: Run = async (_input, { output }) => {
  await output.json(configJsonSchema());
  return 0;
};
