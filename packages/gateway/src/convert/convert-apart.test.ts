// Hostile files in a thread of their own: their limits, and that other requests don't wait for them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { excelBomb, pdfFile } from "../../test/documents.ts";
import { type ConvertLimits, convertApart } from "./convert-apart.ts";
import type { Conversion } from "./to-markdown.ts";

const AMPLE: ConvertLimits = { fileMs: 600_000, requestMs: 600_000, heapMegabytes: 512 };

function convert(name: string, bytes: Buffer, limits = AMPLE): Promise<readonly Conversion[]> {
  return convertApart([{ name, bytes }], { userId: "u", signal: new AbortController().signal, limits });
}

/** Turns of the event loop that others get while the work runs. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setTimeout(count, 1);
  };
  count();
  await work.finally(() => {
    isDone = true;
  });
  return turns;
}

test("a small Excel file that names one long text again and again is cut off at 4 MB, and others get their turns", async () => {
  const bomb = excelBomb(40_000);
  assert.ok(bomb.length < 5000, `${bomb.length}`);
  const work = convert("a.xlsx", bomb);
  const turns = await turnsDuring(work);
  const [result] = await work;
  assert.ok(result?.kind === "converted", JSON.stringify(result));
  assert.ok(result.text.length <= 4_000_100, `${result.text.length}`);
  assert.match(result.text.slice(-100), /cut off here/);
  assert.ok(turns > 10, `${turns}`);
});

test("a file that takes more than its time is given up", async () => {
  const slow = Buffer.from("<a href=x>y</a>".repeat(2_000_000));
  assert.deepEqual(await convert("slow.html", slow, { ...AMPLE, fileMs: 1 }), [
    { kind: "failed", code: "too-costly", problem: "converting it takes more time than a file may take here" },
  ]);
});

test("unless told otherwise a file has half a minute", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const slow = Buffer.from("<a href=x>y</a>".repeat(20_000));
  const options = { userId: "u", signal: new AbortController().signal };
  const work = convertApart([{ name: "slow.html", bytes: slow }], options);
  // The timer is set once the process was started.
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  t.mock.timers.tick(30_000);
  const [result] = await work;
  assert.match(result?.kind === "failed" ? result.problem : "", /takes more time/);
});

test("a file that takes more than its memory is given up, and the process and the next file live on", async () => {
  const large = { name: "large.html", bytes: Buffer.from("<p>a</p>".repeat(1_000_000)) };
  const fine = { name: "fine.pdf", bytes: pdfFile(["fine"]) };
  const results = await convertApart([large, fine], {
    userId: "u",
    signal: new AbortController().signal,
    limits: { ...AMPLE, heapMegabytes: 64 },
  });
  assert.deepEqual(results, [
    { kind: "failed", code: "too-costly", problem: "converting it takes more memory than a file may take here" },
    { kind: "converted", text: "## Page 1\n\nfine\n" },
  ]);
});

test("a conversion ends when its client has left, also one that has not begun", async () => {
  const slow = { name: "slow.html", bytes: Buffer.from("<a href=x>y</a>".repeat(2_000_000)) };
  const first = new AbortController();
  const second = new AbortController();
  const running = convertApart([slow], { userId: "u", signal: first.signal, limits: AMPLE });
  const waiting = convertApart([slow], { userId: "u", signal: second.signal, limits: AMPLE });
  second.abort(new Error("left"));
  await assert.rejects(waiting, /left/);
  first.abort(new Error("left, too"));
  await assert.rejects(running, /left, too/);
  const [after] = await convert("fine.html", Buffer.from("<p>fine</p>"));
  assert.equal(after?.kind, "converted", "its place is free");
});
