/** A browser's session: the key comes once, a cookie goes back. The page needs it; programs send their key with every request. */
import { randomUUID } from "node:crypto";
import type { KeyRows } from "palimpsest/stores";
import { z } from "zod";
import { findKey } from "../access/admit.ts";
import { type EndedSessions, endSession, openSession, sessionOf } from "../access/sessions.ts";
import { ProblemError } from "../http/problem.ts";
import { Headed, noBody, type Route, route } from "../http/route.ts";

export interface SessionDeps {
  readonly keys: KeyRows | undefined;
  readonly secret: () => Promise<Uint8Array>;
  readonly ended: EndedSessions;
  readonly clock: () => Date;
}

export function sessionRoutes(deps: SessionDeps): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/api/session",
      summary: "Give a key once and get a cookie for it, for a page in a browser",
      access: "open",
      body: z.strictObject({ key: z.string().min(1).max(200) }),
      answer: z.strictObject({ user: z.string(), role: z.string(), until: z.string() }),
      async handle({ body, origin }) {
        const { keys, secret, clock } = deps;
        if ((await keys?.any()) !== true)
          throw new ProblemError(409, "no-keys", "this gateway has no keys: on this machine none is needed");
        const row = await findKey(keys!, body.key, clock());
        if (row === null) throw new ProblemError(401, "bad-key", "this key is not known, or no longer valid");
        const { hash, user, role, expiresAt } = row;
        const asked = { id: randomUUID(), hash, expiresAt, secure: isSecure(origin) };
        const session = openSession(await secret(), asked, clock());
        return new Headed({ user, role, until: session.until.toISOString() }, { "set-cookie": session.cookie });
      },
    }),
    route({
      method: "DELETE",
      path: "/api/session",
      summary: "Take the cookie back",
      access: "open",
      body: noBody,
      answer: z.strictObject({ ended: z.literal(true) }),
      async handle({ origin, cookies }) {
        const secret = await deps.secret();
        const session = sessionOf(secret, cookies, deps.clock());
        if (session !== null) deps.ended.add(session, deps.clock());
        const cookie = endSession(secret, { secure: isSecure(origin) });
        return new Headed({ ended: true as const }, { "set-cookie": cookie });
      },
    }),
  ];
}

/** A browser says with every change where its page came from. */
function isSecure(origin: string | null): boolean {
  return origin?.startsWith("https://") === true;
}

/* Who asks, as the server knows it by the key that came with the request. */

export const userRoute: Route = route({
  method: "GET",
  path: "/api/user",
  summary: "Who the caller is",
  access: "user",
  answer: z.strictObject({
    user: z.string(),
    role: z.string(),
    key: z.string().nullable().describe("The id of the key that came with it; null where none is needed."),
  }),
  handle: async ({ caller: { userId, role, key } }) => ({ user: userId, role, key }),
});
