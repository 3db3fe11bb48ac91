/** Keys over HTTP, for admins. A key is in the answer that makes it, and in no other. */
import { checkUser } from "@palimpsest/core/log";
import type { KeyRows, Store } from "palimpsest/stores";
import { z } from "zod";
import { createKey, expiryOf, KEY_ROLES, listKeys } from "../access/keys.ts";
import { notFound, ProblemError } from "../http/problem.ts";
import { type Route, route } from "../http/route.ts";
import { list, noBody } from "../http/schemas.ts";

const role = z.enum(KEY_ROLES);
const expiresAt = z.string().nullable();

export const keyRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/keys",
    summary: "All keys, without the keys themselves",
    access: "admin",
    answer: z.strictObject({
      keys: list(
        z.strictObject({
          id: z.string(),
          prefix: z.string(),
          user: z.string(),
          role,
          createdAt: z.string(),
          expiresAt,
          revokedAt: z.string().nullable(),
        }),
      ),
    }),
    handle: async ({ home }) => ({ keys: await listKeys(keysOf(home.store)) }),
  }),
  route({
    method: "POST",
    path: "/api/keys",
    summary: "Make a key",
    access: "admin",
    status: 201,
    body: z.strictObject({
      user: z.string(),
      role: role.optional(),
      expires: z.string().optional().describe("A time from now: 90d, 12h, 30m; without it never."),
    }),
    answer: z.strictObject({ key: z.string(), id: z.string(), user: z.string(), role, expiresAt }),
    async handle({ body, home }) {
      const now = home.clock();
      const checked = checkUser(body.user);
      if (checked.kind === "invalid") throw new ProblemError(400, "invalid", `body.user: ${checked.problem}`);
      const ends = body.expires === undefined ? null : expiryOf(body.expires, now);
      if (body.expires !== undefined && ends === null)
        throw new ProblemError(400, "invalid", "body.expires: a time from now such as 90d, 12h or 30m");
      return createKey(keysOf(home.store), { user: body.user, role: body.role ?? "user", expiresAt: ends }, now);
    },
  }),
  route({
    method: "DELETE",
    path: "/api/keys/{key}",
    summary: "End a key for good, by its id; it stays listed",
    access: "admin",
    body: noBody,
    answer: z.strictObject({ id: z.string(), revoked: z.literal(true) }),
    async handle({ params, home }) {
      const id = params["key"]!;
      const result = await keysOf(home.store).revoke(id, home.clock().toISOString());
      if (result === "missing") throw notFound(`key ${JSON.stringify(id.slice(0, 140))}`);
      return { id, revoked: true as const };
    },
  }),
];

function keysOf({ keys }: Store): KeyRows {
  if (keys === undefined) throw new ProblemError(501, "unsupported", "this store keeps no keys");
  return keys;
}
