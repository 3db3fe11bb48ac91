import { DEFAULT_USER } from "@palimpsest/core/log";
import { type CreatedKey, createKey, expiryOf, KEY_ROLES } from "@palimpsest/gateway/internal/keys";
import type { Printing, Remote, Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { withHome } from "../home/home.ts";
import { keysOf } from "../home/keys.ts";

interface Options {
  readonly role?: string;
  readonly expires?: string;
}

export const run: Run<Options> = ({ options }, context) => {
  const { userId, output, format } = context;
  const now = new Date();
  const role = KEY_ROLES.find((one) => one === (options.role ?? "user"));
  if (role === undefined) throw new UsageError(`--role must be one of ${KEY_ROLES.join(", ")}, not "${options.role}".`);
  const expiresAt = options.expires === undefined ? null : expiryOf(options.expires, now);
  if (options.expires !== undefined && expiresAt === null)
    throw new UsageError(`--expires is a time from now such as 90d, 12h or 30m, not "${options.expires}".`);
  return withHome(context, async ({ store }) => {
    const keys = keysOf(store);
    const isFirst = !(await keys.any());
    const key = await createKey(keys, { user: userId, role, expiresAt }, now);
    await show(key, { format, output });
    if (isFirst && format !== "json")
      output.note(
        "It is the first key: from now on the gateway of this home wants a key from everybody, the page and this machine included.",
      );
    return 0;
  });
};

export const remote: Remote<Options> = async ({ options }, context) =>
  show(
    await context.server.send("POST", "/api/keys", {
      user: context.userId,
      role: options.role,
      expires: options.expires,
    }),
    context,
  );

async function show(key: CreatedKey, { format, output }: Printing): Promise<number> {
  if (format === "json") await output.json(key);
  else {
    await output.line(key.key);
    const until = key.expiresAt === null ? "" : ` until ${key.expiresAt}`;
    const other = key.user === DEFAULT_USER ? " (--user names another)" : "";
    output.note(
      `The key ${key.id} opens the threads of the user ${JSON.stringify(key.user)}${other}, as ${ROLES[key.role]}${until}. It is shown only now: keep it.`,
    );
  }
  return 0;
}

const ROLES = { user: "a user", delegate: "a delegate for any user", admin: "an admin" } as const;
