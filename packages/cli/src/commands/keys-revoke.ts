import type { Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { withHome } from "../home/home.ts";
import { keysOf } from "../home/keys.ts";

export const run: Run = ({ positionals }, context) => {
  const id = positionals[0]!;
  const { output, format } = context;
  return withHome(context, async ({ store }) => {
    const revoked = await keysOf(store).revoke(id, new Date().toISOString());
    if (revoked === "missing")
      throw new Failure("missing", `There is no key "${id}". "palimpsest keys list" lists them.`);
    if (format === "json") await output.json({ id, revoked: true });
    else await output.line(`Revoked ${id}.`);
    return 0;
  });
};
