import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestLimits } from "./limits.ts";

function counted(settings: ConstructorParameters<typeof RequestLimits>[0]) {
  let now = 0;
  const limits = new RequestLimits(settings, () => now);
  return {
    pass: (ms: number) => {
      now += ms;
    },
    spend: (tokens: number) => spend(limits, "a", tokens),
    take: (key = "a", expected = 0) => limits.take(key, expected),
    kinds: (count: number) => Array.from({ length: count }, () => limits.take("a").kind),
  };
}

function spend(limits: RequestLimits, key: string, tokens: number): void {
  const taken = limits.take(key);
  assert.ok(taken.kind === "taken");
  taken.spend(tokens);
  taken.release();
}

test("a minute's requests may come at once, then as they come back, and the answer says when", () => {
  const { pass, take, kinds } = counted({ requestsPerMinute: 3, tokensPerMinute: null, running: null });
  assert.deepEqual(kinds(4), ["taken", "taken", "taken", "limited"]);
  assert.deepEqual(take(), { kind: "limited", by: "requests", retryAfterSeconds: 20 });
  assert.equal(take("b").kind, "taken", "another's account is its own");
  pass(19_000);
  assert.deepEqual(take(), { kind: "limited", by: "requests", retryAfterSeconds: 1 });
  pass(1_000);
  assert.deepEqual(kinds(2), ["taken", "limited"]);
  pass(3_600_000);
  assert.deepEqual(kinds(4), ["taken", "taken", "taken", "limited"], "no more than a minute's is saved up");
  pass(-3_600_000);
  assert.deepEqual(kinds(1), ["limited"], "a clock that was set back gives nothing");
});

test("so many requests at once; one that has ended makes room, once", () => {
  const { take } = counted({ requestsPerMinute: null, tokensPerMinute: null, running: 2 });
  const first = take();
  assert.equal(take().kind, "taken");
  assert.deepEqual(take(), { kind: "limited", by: "running", retryAfterSeconds: 1 });
  assert.ok(first.kind === "taken");
  first.release();
  first.release();
  assert.deepEqual([take().kind, take().kind], ["taken", "limited"]);
});

test("without limits no request waits, also when the clock is set back", () => {
  let now = 1_000_000_000;
  const limits = new RequestLimits({ requestsPerMinute: null, tokensPerMinute: null, running: null }, () => now);
  for (const jump of [0, -86_400_000, 1, -1_000]) {
    now += jump;
    assert.equal(limits.take("k").kind, "taken");
    spend(limits, "k", 1_000_000);
  }
});

test("without limits there are none", () => {
  const { kinds } = counted({ requestsPerMinute: null, tokensPerMinute: null, running: null });
  assert.deepEqual(new Set(kinds(1000)), new Set(["taken"]));
});

test("a minute's tokens may be spent at once; who went over waits until they have come back", () => {
  const { pass, take, spend } = counted({ requestsPerMinute: null, tokensPerMinute: 600, running: null });
  spend(600);
  assert.equal(take().kind, "taken", "a minute's worth is what may be spent");
  spend(300);
  assert.deepEqual(take(), { kind: "limited", by: "tokens", retryAfterSeconds: 30 });
  assert.equal(take("b").kind, "taken");
  pass(30_000);
  assert.equal(take().kind, "taken");
  spend(1_000_000_000);
  assert.deepEqual(take(), { kind: "limited", by: "tokens", retryAfterSeconds: 59 * 60 });
});

test("a request holds what it will probably cost until it has ended, and then only what it has cost", () => {
  const { take, spend } = counted({ requestsPerMinute: null, tokensPerMinute: 1000, running: null });
  const first = take("a", 700);
  const second = take("a", 700);
  assert.ok(first.kind === "taken" && second.kind === "taken", "the one that goes over is let in");
  assert.deepEqual(take("a", 700), { kind: "limited", by: "tokens", retryAfterSeconds: 1 });
  assert.equal(take("a").kind, "taken", "what asks no model isn't held up");
  first.spend(100);
  assert.equal(take("a", 700).kind, "limited", "the rest may come still");
  first.release();
  first.release();
  second.release();
  assert.equal(take("a", 700).kind, "taken");
  spend(800);
});

test("what requests have cost lately is what the next one is expected to cost, if that is more", () => {
  const { take } = counted({ requestsPerMinute: null, tokensPerMinute: 10_000, running: null });
  const dear = take("a", 10);
  assert.ok(dear.kind === "taken");
  dear.spend(4000);
  dear.release();
  assert.equal(take("a", 10).kind, "taken");
  assert.equal(take("a", 10).kind, "taken");
  assert.equal(take("a", 10).kind, "limited");
});

test("a gateway that refused a key for what runs elsewhere asks until that has ended, and lets it in again", () => {
  const limits = new RequestLimits({ requestsPerMinute: null, tokensPerMinute: null, running: 2 }, () => 0);
  const elsewhere = (running: number) => limits.settle([{ account: "k", requestsMs: 0, tokensMs: 0, running }], 2);
  const taken = limits.take("k");
  if (taken.kind === "taken") taken.release();
  const use = { account: "k", requestsMs: 0, tokensMs: 0, running: 0 };
  assert.deepEqual(limits.uses(), [use], "a request that has ended since is a reason to ask");
  elsewhere(2);
  assert.equal(limits.take("k").kind, "limited");
  assert.deepEqual(limits.uses(), [use]);
  elsewhere(0);
  assert.equal(limits.take("k").kind, "taken");
});

test("gateways that settle up count together, each takes its part until then, and what could not be told is owed still", () => {
  let now = 0;
  const make = () => new RequestLimits({ requestsPerMinute: 60, tokensPerMinute: null, running: 4 }, () => now);
  const [one, two] = [make(), make()];
  for (const limits of [one, two]) limits.settle([], 2);
  const takes = (limits: typeof one) => {
    let count = 0;
    for (let taken = limits.take("k"); taken.kind === "taken"; taken = limits.take("k")) {
      taken.release();
      count += 1;
    }
    return count;
  };
  assert.deepEqual([takes(one), takes(two)], [30, 30], "sixty in all, though neither has heard of the other");
  const uses = one.uses();
  assert.deepEqual(uses, [{ account: "k", requestsMs: 30_000, tokensMs: 0, running: 0 }]);
  one.owe(uses);
  assert.deepEqual(one.uses(), uses);
  two.uses();
  for (const limits of [one, two]) limits.settle([{ account: "k", requestsMs: 60_000, tokensMs: 0, running: 0 }], 2);
  assert.deepEqual([takes(one), takes(two)], [0, 0]);
  assert.deepEqual(one.uses(), [], "an account at rest needs no word");
  now = 10_000;
  assert.deepEqual([takes(one), takes(two)], [5, 5], "it comes back evenly");
  one.settle([{ account: "r", requestsMs: 0, tokensMs: 0, running: 3 }], 2);
  assert.deepEqual([one.take("r").kind, one.take("r").kind], ["taken", "limited"], "what runs elsewhere counts");
});
