/**
 * The whole grid on every core: windows from 4k to 200k, all shapes, all summarizers. On generated sessions, and on the
 * transcripts named by PALIMPSEST_TRANSCRIPTS (paths separated by `:`) where there are any. A row per window and shape is
 * printed as it is done. PALIMPSEST_WINDOWS (`4000,200000`) plays a part of it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DIALECTS } from "@palimpsest/core/internal/message";
import { onEveryCore } from "../../test/playback/on-every-core.ts";
import type { GridReport } from "../../test/playback/playback-grid.ts";
import type { GridJob } from "../../test/playback/playback-grid-job.ts";

const WINDOWS = (process.env["PALIMPSEST_WINDOWS"] ?? "4000,8000,16000,32000,64000,128000,200000")
  .split(",")
  .map(Number);
const FILES = (process.env["PALIMPSEST_TRANSCRIPTS"] ?? "").split(":").filter(Boolean);

test("the whole grid plays without a fault", async (t) => {
  const transcripts = [1, 2, ...FILES];
  // The dearest first, so that no core waits for the last one.
  const jobs = WINDOWS.toSorted((a, b) => b - a).flatMap((window) =>
    transcripts.flatMap((transcript) => DIALECTS.map((dialect): GridJob => ({ transcript, dialect, window }))),
  );
  const task = { module: new URL("./playback-grid-job.ts", import.meta.url).href, name: "playGridJob" };
  const total = { cells: 0, requests: 0, attempts: 0 };
  const faults: string[] = [];
  const started = performance.now();
  row("transcript", "shape", "window", "cells", "requests", "attempts", "faults", "at s");
  await onEveryCore(task, jobs, (report: GridReport, { transcript, dialect, window }: GridJob) => {
    for (const name of ["cells", "requests", "attempts"] as const) total[name] += report[name];
    faults.push(...report.faults.map((fault) => `${transcript} ${fault}`));
    const name = typeof transcript === "number" ? `generated ${transcript}` : transcript.split("/").at(-1)!;
    const { cells, requests, attempts } = report;
    const seconds = Math.round((performance.now() - started) / 1000);
    row(name, dialect, window, cells, requests, attempts, report.faults.length, seconds);
  });
  t.diagnostic(JSON.stringify({ transcripts: transcripts.length, ...total, faults }));
  assert.deepEqual(faults, []);
});

function row(name: string, ...columns: readonly (string | number)[]): void {
  process.stderr.write(`${name.padEnd(30)}${columns.map((column) => String(column).padStart(10)).join("")}\n`);
}
