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
