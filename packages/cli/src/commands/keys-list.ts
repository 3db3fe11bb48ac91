import { type ListedKey, listKeys } from "@palimpsest/gateway/internal/keys";
import type { Printing, Remote, Run } from "../command/command.ts";
import { withHome } from "../home/home.ts";
import { keysOf } from "../home/keys.ts";
import { localTime } from "../terminal/local-time.ts";
import { table } from "../terminal/table.ts";

export const run: Run = async (_input, context) => {
  const { located, output, format } = context;
  const keys = (await located.hasStore()) ? await withHome(context, ({ store }) => listKeys(keysOf(store))) : [];
  return show(keys, { format, output });
};

export const remote: Remote = async (_input, context) => {
  const { keys } = await context.server.get<{ keys: readonly ListedKey[] }>("/api/keys");
  return show(keys, context);
};

async function show(keys: readonly ListedKey[], { format, output }: Printing): Promise<number> {
  if (format === "json") await output.json({ keys });
  else if (keys.length === 0) output.note('There are no keys: "palimpsest keys create --user U" makes one.');
  else {
    const rows = keys.map(({ id, prefix, user, role, createdAt, expiresAt, revokedAt }) => {
      const ends = expiresAt === null ? "" : localTime(expiresAt);
      return [id, `${prefix}...`, user, role, localTime(createdAt), revokedAt === null ? ends : "revoked"];
    });
    await output.line(table(["id", "key", "user", "role", "created", "ends"], rows));
  }
  return 0;
}
