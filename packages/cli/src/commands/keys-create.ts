import { createKey, expiryOf, KEY_ROLES } from "@palimpsest/gateway/internal/keys";
import type { Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { withHome } from "../home/home.ts";
import { keysOf } from "../home/keys.ts";

export const run: Run<{ readonly role?: string; readonly expires?: string }> = ({ options }, context) => {
  const { userId, output, format } = context;
  const now = new Date();
  const role = KEY_ROLES.find((one) => one === (options.role ?? "user"));
  if (role === undefined) throw new UsageError(`--role must be one of ${KEY_ROLES.join(", ")}, not "${options.role}".`);
  const expiresAt = options.expires === undefined ? null : expiryOf(options.expires, now);
  if (options.expires !== undefined && expiresAt === null)
    throw new UsageError(`--expires is a time from now such as 90d, 12h or 30m, not "${options.expires}".`);
  return withHome(context, async ({ store }) => {
    const key = await createKey(keysOf(store), { user: userId, role, expiresAt }, now);
    if (format === "json") await output.json(key);
    else {
      await output.line(key.key);
      const until = key.expiresAt === null ? "" : ` until ${key.expiresAt}`;
      output.note(`The key ${key.id} of ${JSON.stringify(userId)} (${role})${until}. It is shown only now: keep it.`);
    }
    return 0;
  });
};
