// Ten minutes with 300 threads: PALIMPSEST_CHAOS_SECONDS=600 PALIMPSEST_CHAOS_THREADS=300.
import assert from "node:assert/strict";
import { test } from "node:test";
import { noCitus } from "@palimpsest/testing/internal/citus";
import { chaos } from "../test/chaos.ts";

const seconds = Number(process.env["PALIMPSEST_CHAOS_SECONDS"] ?? 30);
const threads = Number(process.env["PALIMPSEST_CHAOS_THREADS"] ?? 30);

for (const [database, what] of [
  ["restarts", "restarts of the server"],
  ["fails-over", "failovers to a synchronous standby"],
  ["citus", "nodes of Citus that go away"],
] as const)
  test(`three gateways, two workers, one PostgreSQL under kill -9, SIGSTOP and ${what}: nothing acknowledged is lost or done twice`, {
    skip: database === "citus" && (noCitus ?? false),
  }, async (t) => {
    const report = await chaos(t, { seconds, threads, stopSeconds: Math.min(60, seconds / 4), database });
    t.diagnostic(JSON.stringify(report));
    assert.ok(report.answered > threads, "it has worked meanwhile");
    assert.ok(report.longestBusy < 45, "no thread is held for longer than a lease, and some");
  });
