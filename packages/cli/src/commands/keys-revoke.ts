import type { Printing, Remote, Run } from "../command/command.ts";
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
    return show({ id, revoked: true }, { format, output });
  });
};

export const remote: Remote = async ({ positionals }, context) =>
  show(await context.server.send("DELETE", `/api/keys/${encodeURIComponent(positionals[0]!)}`), context);

async function show(
  document: { readonly id: string; readonly revoked: true },
  { format, output }: Printing,
): Promise<number> {
  if (format === "json") await output.json(document);
  else await output.line(`Revoked ${document.id}.`);
  return 0;
}
