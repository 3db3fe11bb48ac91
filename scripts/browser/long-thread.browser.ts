// A thread of many messages in a real browser: what first paint, scrolling and a search take, printed and not judged.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspector } from "./inspected.ts";
import { fill } from "./threads.ts";

const inspect = inspector();
const COUNT = Number(process.env["PALIMPSEST_LONG_THREAD"] ?? 10_000);

test(`a thread of ${COUNT} messages is opened, scrolled through and searched`, async (t) => {
  await inspect(t, { width: 1600, config: "gateway: {body_limit_mb: 200}\n" }, async ({ page, url }) => {
    await fill(
      url,
      "long",
      COUNT,
      (index) =>
        `message ${index}: the tide turns at ${index % 24}:${index % 60}, and the wall is ${index} stones long`,
    );
    await page.addInitScript(WATCH);
    await page.goto("/threads/long/window");
    const list = page.getByRole("listbox", { name: "Entries of the request" });
    await list.waitFor();
    await list.getByRole("option", { name: /message 0:/ }).waitFor();
    t.diagnostic(`open: ${await told(page)}`);
    await list.focus();
    await page.keyboard.press("End");
    await list.getByRole("option", { name: new RegExp(`message ${COUNT - 1}:`) }).waitFor();
    for (let step = 0; step < 20; step += 1) {
      await list.evaluate((element: { scrollTop: number; scrollHeight: number }, at) => {
        element.scrollTop = (element.scrollHeight / 20) * at;
      }, step);
      await page.evaluate(DRAWN);
    }
    t.diagnostic(`scroll: ${await told(page)}`);
    assert.ok((await list.getByRole("option").count()) < 120, "only what is in sight is drawn");
    await page.goto(`/threads?find=stones`);
    await page.getByRole("list", { name: "Hits" }).waitFor();
    t.diagnostic(`search: ${await told(page)}`);
  });
});

/** Runs in the page: resolves when what was asked for is painted. */
const DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

/** Runs in the page: how long the longest tasks took, and when something was first painted. */
const WATCH = `globalThis.tasks = [];
new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) tasks.push(Math.round(duration)); }).observe({ type: "longtask", buffered: true });`;

async function told(page: { evaluate<T>(text: string): Promise<T> }): Promise<string> {
  return page.evaluate<string>(
    `(() => { const paint = performance.getEntriesByName("first-contentful-paint")[0]; const long = tasks.splice(0).sort((a, b) => b - a); return "first paint " + Math.round(paint?.startTime ?? 0) + " ms, long tasks " + long.length + ", longest " + (long[0] ?? 0) + " ms"; })()`,
  );
}
