// The loop that settles what keys have used, of two gateways on one PostgreSQL.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { openStore } from "palimpsest/stores";
import { keepSettled, RequestLimits } from "./limits.ts";

test("what runs on one gateway counts on the other, what has ended there makes room, and a database that was away is told what it missed", async (t) => {
  const server = await startPostgres();
  const store = await openStore(server.url());
  const make = () => new RequestLimits({ requestsPerMinute: null, tokensPerMinute: null, running: 4 }, Date.now);
  const [one, two] = [make(), make()];
  const loops = [keepSettled([one], store.shared!.limits, "one"), keepSettled([two], store.shared!.limits, "two")];
  t.after(async () => {
    await Promise.all(loops.map((loop) => loop.stop()));
    await store.close();
    await server.stop();
  });
  const take = () => {
    const taken = one.take("k");
    assert.equal(taken.kind, "taken");
    return taken.kind === "taken" ? taken.release : () => {};
  };
  /** Looks without taking a place for longer than that. */
  const untilOther = async (kind: "taken" | "limited") => {
    for (;;) {
      const taken = two.take("k");
      if (taken.kind === "taken") taken.release();
      if (taken.kind === kind) return;
      await pause(50);
    }
  };
  const releases = [take(), take()];
  await untilOther("taken");
  while (releases.length < 4) {
    const taken = one.take("k");
    if (taken.kind === "taken") releases.push(taken.release);
    else await pause(50);
  }
  await untilOther("limited");
  await server.halt();
  for (const release of releases) release();
  await server.start();
  await untilOther("taken");
});
