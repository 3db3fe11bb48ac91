// The window and the timeline in a real browser: why something is there, where a sentence comes from, and the way back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspector } from "./inspected.ts";
import { fill, STRANGE, talked } from "./threads.ts";

const inspect = inspector();
const SMALL = `models: [{name: offline, provider: offline, model: offline, max_input_tokens: 8000}]
summarization: {enabled: true, trigger: {type: fraction, value: 0.85}, keep: {type: messages, value: 4}}
`;

for (const [store, theme, width] of [
  ["sqlite", "dark", 1600],
  ["postgres", "light", 1000],
  ["sqlite", "light", 400],
] as const)
  test(`a compaction is previewed, done with a focus, read to its sources, undone and redone, on ${store}, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { store, theme, width, config: SMALL }, async ({ page, url, sound, picture }) => {
      await talked(url, 10);
      await page.goto("/threads/garden/window");
      await page.getByRole("heading", { name: "A garden" }).waitFor();
      await page.getByRole("button", { name: "Preview" }).click();
      await page.getByText("What a compaction would do").waitFor();
      await sound();
      await picture("preview");
      await page.getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Compact…" }).first().click();
      await page.getByLabel(/keep in view/).fill("the north wall");
      await sound();
      await page.getByRole("button", { name: "Compact", exact: true }).click();
      await page.getByText("Undo takes it back").waitFor();
      await page.getByRole("img", { name: /^Before/ }).waitFor();
      const item = page.getByRole("button", { name: /#\d+$/, expanded: false }).first();
      await item.click();
      await page.getByRole("region", { name: "Where that comes from" }).getByRole("article").first().waitFor();
      await sound();
      await picture("window");
      await page.getByRole("button", { name: /^Undo #/ }).click();
      await page.getByText("is shown again").waitFor();
      await page.getByRole("button", { name: "Redo" }).click();
      await page.getByText("It stands again").waitFor();
    });
  });

test("an entry is read whole, pinned, forked at and redacted, each with its word", async (t) => {
  await inspect(t, { width: 1600, config: SMALL }, async ({ page, url, sound }) => {
    await talked(url, 2);
    await page.goto("/threads/garden/window");
    await page
      .getByRole("option", { name: /cardamom/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await page.getByText(/is pinned/).waitFor();
    await page.getByRole("button", { name: "Redact…" }).click();
    await sound();
    await page.getByRole("button", { name: "Erase for good" }).click();
    await page.getByText(/are erased/).waitFor();
    await page
      .getByRole("option", { name: /\[redacted\]/ })
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Fork here" }).click();
    await page.waitForURL(/garden-fork/);
    await page.getByRole("heading", { level: 1 }).waitFor();
  });
});

for (const [store, theme, width] of [
  ["sqlite", "light", 1600],
  ["postgres", "dark", 1000],
  ["sqlite", "dark", 400],
] as const)
  test(`any request of the past is reached by keys or by dragging, with what changed, and forked from, on ${store}, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { store, theme, width, config: SMALL }, async ({ page, url, sound, picture }) => {
      await talked(url, 8);
      await page.goto("/threads/garden/timeline");
      const slider = page.getByRole("slider", { name: "Request" });
      await slider.focus();
      await page.keyboard.press("Home");
      await page.getByText("the first").waitFor();
      await page.keyboard.press("ArrowRight");
      await page.getByText(/\d+ new, \d+ gone/).waitFor();
      const box = (await slider.boundingBox())!;
      await page.mouse.move(box.x + 5, box.y + 50);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 2, box.y + 50, { steps: 5 });
      await page.mouse.up();
      await page.waitForURL(/\?at=\d+/);
      await page.getByText("The exact request, as JSON").click();
      await page.locator("pre.exact").waitFor();
      await sound();
      await picture("timeline");
      await page.getByRole("button", { name: "Fork from here" }).click();
      await page.waitForURL(/garden-fork-\d+.*window/);
      await page.getByRole("heading", { level: 1 }).waitFor();
    });
  });

test("the map lists what was talked about, and each line leads to the window", async (t) => {
  await inspect(
    t,
    { store: "sqlite", theme: "light", width: 1000, config: SMALL },
    async ({ page, url, sound, picture }) => {
      await talked(url, 8);
      await page.goto("/threads/garden/map");
      const lines = page.locator("ol.map li");
      await lines.first().waitFor();
      assert.ok((await lines.count()) >= 1);
      await sound();
      await picture("map");
      await lines.first().getByRole("link").click();
      await page.waitForURL(/\/threads\/garden\/window\?seq=\d+/);
      await page.getByRole("heading", { level: 1 }).waitFor();
    },
  );
});

test("whatever stands in a message is only ever text, a thread that is deleted elsewhere is told of, and a wrong address too", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page, url, sound, expect }) => {
    const headers = { "content-type": "application/jsonl" };
    await fetch(`${url}/api/threads/strange/import`, { method: "POST", headers, body: STRANGE });
    await page.goto("/threads/strange/window");
    await page.getByRole("option", { name: /<script>/ }).click();
    await page.getByRole("article").getByText("<script>alert(1)</script>").waitFor();
    await page.getByRole("option", { name: /␀/ }).click();
    assert.equal(await page.locator("script:not([src])").count(), 0);
    await sound();
    const gone = { method: "DELETE", headers: { "content-type": "application/json" }, body: "{}" };
    await fetch(`${url}/api/threads/strange`, gone);
    await page.getByText("deleted elsewhere").waitFor();
    expect(/status of 404/);
    await page.goto("/threads/never/window");
    await page.getByText("There is no such thread").waitFor();
    await page.goto("/threads/never/kitchen");
    await page.getByText("Nothing is at this address").waitFor();
  });
});

test("a message of five million characters is shown as far as one wants, and an empty thread says what to do", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page, url }) => {
    await fill(url, "large", 3, (index) => (index === 1 ? "sea ".repeat(1_250_000) : "short"));
    await page.goto("/threads/large/window");
    await page.getByRole("option", { name: /sea sea/ }).click();
    await page.getByRole("button", { name: /4,996,000 more characters/ }).waitFor();
    await fetch(`${url}/api/threads`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "empty" }),
    });
    await page.goto("/threads/empty/window");
    await page.getByText("Nothing was said yet").waitFor();
    await page.goto("/threads/empty/timeline");
    await page.getByText("No model has answered here yet").waitFor();
  });
});
