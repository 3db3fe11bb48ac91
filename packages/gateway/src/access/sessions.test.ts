import assert from "node:assert/strict";
import { test } from "node:test";
import { endSession, openSession, sessionKey } from "./sessions.ts";

const secret = Buffer.from("a secret of the gateway's own, long enough");
const now = new Date("2026-01-01T00:00:00Z");
const key = { hash: "ab12", expiresAt: null, secure: false };
const withCookie = (cookie: string) => new Headers({ cookie: `other=1; ${cookie.split(";")[0]}` });
const later = (hours: number) => new Date(now.getTime() + hours * 3_600_000);

test("a session stands for its key for twelve hours, and for no longer than the key itself", () => {
  const { cookie, until } = openSession(secret, key, now);
  assert.equal(until.toISOString(), "2026-01-01T12:00:00.000Z");
  assert.equal(sessionKey(secret, withCookie(cookie), later(11)), "ab12");
  assert.equal(sessionKey(secret, withCookie(cookie), later(12)), null);
  const short = openSession(secret, { ...key, expiresAt: later(2).toISOString() }, now);
  assert.equal(sessionKey(secret, withCookie(short.cookie), later(3)), null);
});

test("no script and no other site gets the cookie, and over TLS it stays there", () => {
  assert.match(openSession(secret, key, now).cookie, /; HttpOnly; SameSite=Strict$/);
  assert.match(openSession(secret, { ...key, secure: true }, now).cookie, /; SameSite=Strict; Secure$/);
  assert.match(endSession(secret, key), /=; Path=\/; Max-Age=0;/);
});

test("a cookie of another gateway, a changed one, a cut one and none at all stand for nobody", () => {
  const { cookie } = openSession(secret, key, now);
  const other = Buffer.from("another gateway's secret, long enough too");
  assert.equal(sessionKey(other, withCookie(cookie), now), null);
  for (const changed of [
    cookie.replace("ab12", "cd34"),
    cookie.replace(/\.\d+\./, ".9999999999999."),
    cookie.slice(0, 40),
  ])
    assert.equal(sessionKey(secret, withCookie(changed), now), null);
  assert.equal(sessionKey(secret, new Headers(), now), null);
});
