import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Access,
  type AdmissionVerdict,
  admit,
  isHostAllowed,
  type KeyFacts,
  type PresentedKey,
  type RequestFacts,
} from "./admit.ts";

const plain: RequestFacts = {
  method: "GET",
  connection: "loopback",
  host: "127.0.0.1:8790",
  hostAllowed: true,
  origin: null,
  fetchSite: null,
  fetchMode: null,
  contentType: null,
  marked: false,
  namedUser: null,
  access: "user",
};
const none: KeyFacts = { exist: false, presented: "none", providerUser: null };
const holding = (presented: KeyFacts["presented"], exist = true): KeyFacts => ({
  exist,
  presented,
  providerUser: null,
});
const key = (given: Partial<PresentedKey> = {}): KeyFacts =>
  holding({ id: "k1", userId: "ada", role: "user", state: "valid", ...given });

function outcome(verdict: AdmissionVerdict): string {
  if (verdict.kind === "refused") return `${verdict.status} ${verdict.code}`;
  return verdict.caller === null ? "anybody" : `${verdict.caller.userId} ${verdict.caller.role}`;
}

function table(rows: readonly (readonly [string, Partial<RequestFacts>, KeyFacts, string])[]): void {
  for (const [title, facts, keys, expected] of rows)
    assert.equal(outcome(admit({ ...plain, ...facts }, keys)), expected, title);
}

test("without keys only this machine comes in, under names that only it has", () => {
  table([
    ["a plain request", {}, none, "default admin"],
    ["by name", { host: "localhost:8790" }, none, "default admin"],
    ["without a port", { host: "LOCALHOST" }, none, "default admin"],
    ["IPv6", { host: "[::1]:8790" }, none, "default admin"],
    ["another loopback address", { host: "127.0.0.2:1" }, none, "default admin"],
    ["a name that was made to point here", { host: "evil.example:8790" }, none, "403 foreign-host"],
    ["one that looks like ours", { host: "127.0.0.1.evil.example" }, none, "403 foreign-host"],
    ["one that ends like ours", { host: "evil-localhost" }, none, "403 foreign-host"],
    ["no host", { host: null }, none, "403 foreign-host"],
    ["health, under a foreign name", { host: "evil.example", access: "open" }, none, "403 foreign-host"],
    ["through another address", { connection: "other" }, none, "401 no-key"],
    ["with somebody's key", {}, holding("unknown", false), "default admin"],
    ["as another user", { namedUser: "bob" }, none, "403 not-your-user"],
    ["as themselves", { namedUser: "default" }, none, "default admin"],
  ]);
});

test("a page of another site is refused, with keys too", () => {
  for (const keys of [none, key()]) {
    const ours = keys === none ? "default admin" : "ada user";
    table([
      ["our own page", { origin: "http://127.0.0.1:8790", fetchSite: "same-origin" }, keys, ours],
      ["a foreign origin", { origin: "https://evil.example" }, keys, "403 foreign-origin"],
      ["another port of this machine", { origin: "http://127.0.0.1:3000" }, keys, "403 foreign-origin"],
      ["a file or a sandbox", { origin: "null" }, keys, "403 foreign-origin"],
      ["an origin with a user", { origin: "http://127.0.0.1:8790@evil.example" }, keys, "403 foreign-origin"],
      ["cross-site without an origin", { fetchSite: "cross-site" }, keys, "403 cross-site"],
      ["another port without an origin", { fetchSite: "same-site" }, keys, "403 cross-site"],
      ["a link to data", { fetchSite: "cross-site", fetchMode: "navigate" }, keys, "403 cross-site"],
      ["a link to the page", { fetchSite: "cross-site", fetchMode: "navigate", access: "page" }, keys, "anybody"],
      ["a frame's script on the page", { fetchSite: "cross-site", access: "page" }, keys, "403 cross-site"],
      ["typed by a person", { fetchSite: "none" }, keys, ours],
    ]);
  }
  const proxied = { host: "chat.example.com", origin: "https://chat.example.com" };
  table([["behind a proxy with TLS", proxied, key(), "ada user"]]);
});

test("what changes something can't be sent by a form", () => {
  const form = "application/x-www-form-urlencoded";
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    table([
      ["JSON", { method, contentType: "application/json" }, none, "default admin"],
      ["JSON with a charset", { method, contentType: "Application/JSON; charset=utf-8" }, none, "default admin"],
      ["JSON lines", { method, contentType: "application/x-ndjson" }, none, "default admin"],
      ["an archive", { method, contentType: "application/zip" }, none, "default admin"],
      ["a form", { method, contentType: form }, none, "415 not-json"],
      ["a form with a key", { method, contentType: form }, key(), "415 not-json"],
      ["text that holds JSON", { method, contentType: "text/plain;application/json" }, none, "415 not-json"],
      ["an upload", { method, contentType: "multipart/form-data; boundary=x" }, none, "415 not-json"],
      ["an upload with a header of ours", { method, contentType: form, marked: true }, none, "default admin"],
      [
        "an upload of a vendor's client with its key",
        { method, contentType: "multipart/form-data; boundary=x", access: "provider" },
        key(),
        "ada user",
      ],
      [
        "the same with a cookie",
        { method, contentType: "multipart/form-data; boundary=x", access: "provider" },
        { ...key(), carriedBy: "cookie" },
        "415 not-json",
      ],
      ["no body", { method }, none, "415 not-json"],
      ["no body, but a header of ours", { method, marked: true }, none, "default admin"],
      ["no body, but a key, which no form can send", { method }, key(), "ada user"],
    ]);
  }
});

test("a change without a body is told what to send", () => {
  const verdict = admit({ ...plain, method: "POST" }, none);
  assert.match(verdict.kind === "refused" ? verdict.message : "", /-H 'content-type: application\/json' -d '\{\}'/);
});

test("where keys exist, one is needed, and it must hold", () => {
  table([
    ["none", {}, holding("none"), "401 no-key"],
    ["an unknown one", {}, holding("unknown"), "401 bad-key"],
    ["two", {}, holding("several"), "401 bad-key"],
    ["an expired one", {}, key({ state: "expired" }), "401 bad-key"],
    ["a revoked one", {}, key({ state: "revoked" }), "401 bad-key"],
    ["a valid one", {}, key(), "ada user"],
    ["from anywhere, under any name", { connection: "other", host: "pal.example.com" }, key(), "ada user"],
    ["health needs none", { access: "open" }, holding("none"), "anybody"],
    ["a revoked admin's", {}, key({ role: "admin", state: "revoked" }), "401 bad-key"],
  ]);
});

test("who may act as whom, and what is an admin's", () => {
  const rows: readonly (readonly [PresentedKey["role"], string | null, Access, string])[] = [
    ["user", null, "user", "ada user"],
    ["user", "ada", "user", "ada user"],
    ["user", "bob", "user", "403 not-your-user"],
    ["user", "", "user", "400 bad-user"],
    ["user", null, "admin", "403 admin-only"],
    ["delegate", null, "user", "ada delegate"],
    ["delegate", "bob", "user", "bob delegate"],
    ["delegate", "bob", "admin", "403 admin-only"],
    ["admin", "bob", "user", "bob admin"],
    ["admin", null, "admin", "ada admin"],
    ["admin", "x\0y", "user", "400 bad-user"],
  ];
  for (const [role, namedUser, access, expected] of rows)
    table([[`${role} as ${namedUser}`, { namedUser, access }, key({ role }), expected]]);
});

test("a forwarded provider's key is let in where the route allows it, as a user of its own, and never beside a wrong key of ours", () => {
  const forwarded = (presented: KeyFacts["presented"]): KeyFacts => ({
    exist: true,
    presented,
    providerUser: "provider-1",
  });
  const provider = { access: "provider" } as const;
  table([
    ["its own user", provider, forwarded("unknown"), "provider-1 user"],
    ["in its own header", provider, forwarded("none"), "provider-1 user"],
    ["only on such routes", {}, forwarded("unknown"), "401 bad-key"],
    ["only on such routes, in its own header", {}, forwarded("none"), "401 no-key"],
    ["nothing of an admin's", { access: "admin" }, forwarded("unknown"), "401 bad-key"],
    ["where keys are not forwarded", provider, holding("unknown"), "401 bad-key"],
    ["naming another", { ...provider, namedUser: "bob" }, forwarded("unknown"), "403 not-your-user"],
    ["with a key of ours", provider, key(), "ada user"],
    ["at this machine without keys", provider, none, "default admin"],
  ]);
});

test("where hosts are listed, only these and this machine's own names are allowed, with keys too", () => {
  const hosts = ["chat.example.com", "Pal.example.com:8443"];
  const rows: readonly (readonly [string | null, boolean])[] = [
    ["chat.example.com", true],
    ["CHAT.example.com:443", true],
    ["pal.example.com:8443", true],
    ["pal.example.com", false],
    ["127.0.0.1:8790", true],
    ["localhost", true],
    ["evil.test", false],
    ["chat.example.com.evil.test", false],
    [null, false],
  ];
  for (const [host, expected] of rows) assert.equal(isHostAllowed(host, hosts), expected, String(host));
  assert.equal(isHostAllowed("evil.test", null), true);
  const evil = { host: "evil.test", origin: "http://evil.test", hostAllowed: false };
  for (const access of ["user", "open", "page", "provider", "admin"] as const)
    table([[`a rebound name, ${access}`, { ...evil, access }, key({ role: "admin" }), "403 foreign-host"]]);
});
