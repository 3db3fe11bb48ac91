/** Keys to the gateway: made, listed, ended. */
import { DEFAULT_USER } from "@palimpsest/core/internal/log";
import { create, KEY_ROLES, listAll, revoke } from "palimpsest/internal/key-operations";
import type { Input } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { acting, performing, print } from "../home/home.ts";
import { localTime } from "../terminal/output.ts";
import { table } from "../terminal/table.ts";

interface CreateOptions {
  readonly role?: string;
  readonly expires?: string;
}

export const creating = acting<CreateOptions>(async ({ options: { role: name = "user", expires } }, acts) => {
  const role = KEY_ROLES.find((one) => one === name);
  if (role === undefined) throw new UsageError(`--role must be one of ${KEY_ROLES.join(", ")}, not "${name}".`);
  const key = await acts.call(create, { user: acts.userId, role, expires });
  await print(acts, key, async () => {
    await acts.output.line(key.key);
    const until = key.expiresAt === null ? "" : ` until ${key.expiresAt}`;
    const other = key.user === DEFAULT_USER ? " (--user names another)" : "";
    acts.output.note(
      `The key ${key.id} opens the threads of the user ${JSON.stringify(key.user)}${other}, as ${ROLES[key.role]}${until}. It is shown only now: keep it.`,
    );
  });
  return 0;
});

const ROLES = { user: "a user", delegate: "a delegate for any user", admin: "an admin" } as const;

export const listing = performing(listAll, {
  input: (_: Input) => ({}),
  empty: () => ({ keys: [] }),
  async show({ keys }, { output }) {
    if (keys.length === 0) return output.note('There are no keys: "palimpsest keys create --user U" makes one.');
    const rows = keys.map(({ id, prefix, user, role, createdAt, expiresAt, revokedAt }) => {
      const ends = expiresAt === null ? "" : localTime(expiresAt);
      return [id, `${prefix}...`, user, role, localTime(createdAt), revokedAt === null ? ends : "revoked"];
    });
    await output.line(table(["id", "key", "user", "role", "created", "ends"], rows));
  },
});

export const revoking = performing(revoke, {
  input: ({ positionals: [key] }: Input) => ({ key: key! }),
  hints: { missing: '"palimpsest keys list" lists them' },
  show: ({ id }) => `Revoked ${id}.`,
});
