// A thread as one page to share, in a real browser: hostile words in every place, a strict policy, no network, nothing runs.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { fullPage } from "../../packages/harness/src/operations/full-page.ts";
import { inspector } from "./inspected.ts";
import { fill, made, talked } from "./threads.ts";

const inspect = inspector();
const SMALL = `models: [{name: offline, provider: offline, model: offline, max_input_tokens: 8000, pricing: {input: 3, output: 15}}]
summarization: {enabled: true, trigger: {type: fraction, value: 0.85}, keep: {type: messages, value: 4}}
`;
const HOSTILE = `</pre></p></script><script>document.title='broken in'</script><img src=x onerror="document.title='broken in'"><a href="javascript:document.title='broken in'">x</a><style>body{display:none}</style><svg onload="document.title='broken in'"><meta http-equiv=refresh content="0;url=https://example.com/">`;

for (const [theme, width] of [
  ["light", 1600],
  ["dark", 1000],
  ["light", 400],
] as const)
  test(`hostile words in a shared page are text: nothing runs and nothing is loaded, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { theme, width, config: SMALL }, async ({ page, url, home, sound, picture }) => {
      const { post } = await talked(url, 8);
      await post("/api/threads/garden/runs", { prompt: `We decided: ${HOSTILE}` });
      await post("/api/threads/garden/rules", { text: `Never ${HOSTILE.slice(0, 500)}` });
      await post("/api/threads/garden/compact", { focus: HOSTILE });
      const file = await written(t, fullPage(home, "garden", { signal: t.signal }));
      const asked: string[] = [];
      page.on("request", (request) => asked.push(request.url()));
      await page.goto(file);
      for (const part of ["window", "requests", "compactions", "said"]) await page.locator(`#${part}`).waitFor();
      await page.locator("#said ~ article").getByText("broken in").first().waitFor();
      assert.doesNotMatch(await page.title(), /broken in/);
      assert.equal(await page.locator("script, img, iframe, link, article a, article style").count(), 0);
      assert.deepEqual(asked, [file]);
      await page.locator("#requests details").last().locator("summary").click();
      await page
        .getByText(/^Held: /)
        .last()
        .waitFor();
      await page.locator("#compactions details").first().locator("summary").click();
      await sound();
      await picture("full-page");
    });
  });

test("an over-full window looks over-full in a shared page, and the curve has figures and times", async (t) => {
  await inspect(t, { config: SMALL }, async ({ page, url, home, sound }) => {
    await fill(url, "over", 200, (index) => `message ${index} ${"about the sea ".repeat(40)}`);
    await page.goto(await written(t, fullPage(home, "over", { signal: t.signal })));
    await page.getByText(/^[\d,]+ tokens do not fit\./).waitFor();
    const bar = (await page.locator(".bar").boundingBox())!;
    const beyond = (await page.locator(".bar .beyond").boundingBox())!;
    assert.ok(beyond.x > bar.x && Math.abs(beyond.x + beyond.width - bar.x - bar.width) < 1);
    await sound();
    await talked(url, 4);
    await page.goto(await written(t, fullPage(home, "garden", { signal: t.signal })));
    await page.getByText("Thread garden · 8 messages · 4 requests").waitFor();
    assert.equal(await page.locator(".bar .beyond").count(), 0);
    assert.deepEqual(await page.locator(".axis span").allInnerTexts(), ["10,000", "5,000", "0"]);
    const timeline = (await (await fetch(`${url}/api/threads/garden/timeline`)).json()) as {
      requests: { input: number }[];
    };
    const inputs = timeline.requests.map(({ input }) => input.toLocaleString("en-US"));
    const most = Math.max(...timeline.requests.map(({ input }) => input)).toLocaleString("en-US");
    await page.getByText(`From ${inputs[0]} to ${inputs.at(-1)}, at most ${most} tokens.`).waitFor();
    assert.match(await page.locator(".times").innerText(), /^\d{4}-\d\d-\d\d \d\d:\d\d/);
  });
});

test("a thread without requests or compactions, and an empty one, are pages as well", async (t) => {
  await inspect(t, { config: SMALL }, async ({ page, url, home }) => {
    await fill(url, "plain", 400);
    await made(url).post("/api/threads", { id: "empty" });
    for (const id of ["plain", "empty"]) {
      await page.goto(await written(t, fullPage(home, id, { signal: t.signal })));
      await page.getByText("Nothing was compacted.").waitFor();
    }
  });
});

async function written(t: { after(work: () => void): void }, pieces: AsyncIterable<string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-page-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const parts: string[] = [];
  for await (const piece of pieces) parts.push(piece);
  writeFileSync(join(folder, "page.html"), parts.join(""));
  return pathToFileURL(join(folder, "page.html")).href;
}
