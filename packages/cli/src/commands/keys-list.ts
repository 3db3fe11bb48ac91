import { listKeys } from "@palimpsest/gateway/internal/keys";
import type { Run } from "../command/command.ts";
import { withHome } from "../home/home.ts";
import { keysOf } from "../home/keys.ts";
import { localTime } from "../terminal/local-time.ts";
import { table } from "../terminal/table.ts";

export const run: Run = async (_input, context) => {
  const { located, output, format } = context;
  const keys = (await located.hasStore()) ? await withHome(context, ({ store }) => listKeys(keysOf(store))) : [];
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
};
