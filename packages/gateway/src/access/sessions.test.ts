import assert from "node:assert/strict";
import { test } from "node:test";
import { EndedSessions, endSession, openSession, sessionOf } from "./sessions.ts";

const secret = Buffer.from("a secret of the gateway's own, long enough");
const now = new Date("2026-01-01T00:00:00Z");
const key = { id: "s1", hash: "ab12", expiresAt: null, secure: false };
const withCookie = (cookie: string) => `other=1; ${cookie.split(";")[0]}`;
const later = (hours: number) => new Date(now.getTime() + hours * 3_600_000);

test("a session stands for its key for twelve hours, and for no longer than the key itself", () => {
  const { cookie, until } = openSession(secret, key, now);
  assert.equal(until.toISOString(), "2026-01-01T12:00:00.000Z");
  assert.deepEqual(sessionOf(secret, withCookie(cookie), later(11)), {
    id: "s1",
    hash: "ab12",
    until: until.getTime(),
  });
  assert.equal(sessionOf(secret, withCookie(cookie), later(12)), null);
  const short = openSession(secret, { ...key, expiresAt: later(2).toISOString() }, now);
  assert.equal(sessionOf(secret, withCookie(short.cookie), later(3)), null);
});

test("no script and no other site gets the cookie, and over TLS it stays there", () => {
  assert.match(openSession(secret, key, now).cookie, /; HttpOnly; SameSite=Strict$/);
  assert.match(openSession(secret, { ...key, secure: true }, now).cookie, /; SameSite=Strict; Secure$/);
  assert.match(endSession(secret, key), /=; Path=\/; Max-Age=0;/);
});

test("a cookie of another gateway, a changed one, a cut one and none at all name no user", () => {
  const { cookie } = openSession(secret, key, now);
  const other = Buffer.from("another gateway's secret, long enough too");
  assert.equal(sessionOf(other, withCookie(cookie), now), null);
  for (const changed of [
    cookie.replace("ab12", "cd34"),
    cookie.replace(".s1.", ".s2."),
    cookie.replace(/\.\d+\./, ".9999999999999."),
    cookie.slice(0, 40),
  ])
    assert.equal(sessionOf(secret, withCookie(changed), now), null);
  assert.equal(sessionOf(secret, null, now), null);
});

test("an ended session stays ended as long as it would have been good, and a key's notes have an end", () => {
  const ended = new EndedSessions(3);
  const session = (id: string, hours: number, hash = "ab12") => ({ id, hash, until: later(hours).getTime() });
  ended.add(session("first", 2), now);
  ended.add(session("second", 12), now);
  ended.add(session("of another", 12, "cd34"), now);
  const known = () => ["first", "second", "third", "fourth", "fifth"].filter((id) => ended.has(session(id, 12)));
  assert.deepEqual(known(), ["first", "second"]);
  assert.ok(!ended.has(session("of another", 12)));
  ended.add(session("third", 14), later(2));
  assert.deepEqual(known(), ["second", "third"], "what is over by itself needs no note");
  for (const id of ["fourth", "fifth"]) ended.add(session(id, 15), later(3));
  assert.deepEqual(known(), ["third", "fourth", "fifth"], "of one key no more than so many");
  assert.ok(ended.has(session("of another", 12, "cd34")));
});
