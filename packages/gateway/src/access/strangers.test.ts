import assert from "node:assert/strict";
import { test } from "node:test";
import { createStrangers, networkOf } from "./limits.ts";

const NONE = { requestsPerMinute: null, running: null };

test("an address has its requests of a minute, however many keys it makes up, and others have theirs", () => {
  let now = 0;
  const strangers = createStrangers({ ofAddress: { requestsPerMinute: 2, running: null }, ofAll: NONE }, () => now);
  const take = (address: string) => strangers.take(address).kind;
  assert.deepEqual([take("10.0.0.1"), take("10.0.0.1"), take("10.0.0.1")], ["taken", "taken", "limited"]);
  assert.equal(take("10.0.0.2"), "taken");
  now = 30_000;
  assert.equal(take("10.0.0.1"), "taken");
});

test("all strangers together have a limit, and who was refused by it gives its own place back", () => {
  const limits = { ofAddress: { requestsPerMinute: null, running: 1 }, ofAll: { requestsPerMinute: null, running: 2 } };
  const strangers = createStrangers(limits, () => 0);
  const [first, second] = [strangers.take("a"), strangers.take("b")];
  assert.deepEqual([first.kind, second.kind, strangers.take("c").kind], ["taken", "taken", "limited"]);
  if (first.kind === "taken") first.release();
  assert.equal(strangers.take("c").kind, "taken");
});

test("gateways that settle up count strangers together, by address and all", () => {
  const limits = { ofAddress: { requestsPerMinute: 2, running: null }, ofAll: { requestsPerMinute: 3, running: null } };
  const [one, two] = [createStrangers(limits, () => 0), createStrangers(limits, () => 0)];
  for (const address of ["10.0.0.1", "10.0.0.1"]) assert.equal(one.take(address).kind, "taken");
  for (const [index, counted] of two.counted.entries()) {
    const uses = one.counted[index]!.uses();
    assert.equal(uses.length, 1);
    counted.settle(
      uses.map(({ account, requestsMs }) => ({ account, requestsMs, tokensMs: 0, running: 0 })),
      1,
    );
  }
  assert.equal(two.take("10.0.0.1").kind, "limited");
  assert.deepEqual([two.take("10.0.0.2").kind, two.take("10.0.0.3").kind], ["taken", "limited"]);
});

test("an IPv6 address counts as its network, an IPv4 address in IPv6's spelling as itself", () => {
  assert.equal(networkOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  assert.equal(networkOf("2001:db8:1:2::9"), "2001:db8:1:2::/64");
  assert.equal(networkOf("2001:DB8::1"), "2001:db8:0:0::/64");
  assert.equal(networkOf("::1"), "0:0:0:0::/64");
  assert.equal(networkOf("fe80::1%eth0"), "fe80:0:0:0::/64");
  assert.deepEqual(
    [networkOf("::ffff:10.0.0.1"), networkOf("10.0.0.1"), networkOf(null)],
    ["10.0.0.1", "10.0.0.1", "unknown"],
  );
});

test("a user is a stranger until a provider has accepted the key", () => {
  const strangers = createStrangers({ ofAddress: NONE, ofAll: NONE }, () => 0);
  assert.equal(strangers.isAccepted("u"), false);
  strangers.accept("u");
  assert.equal(strangers.isAccepted("u"), true);
});
