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
      const preview = page.getByText("What a compaction would do");
      await preview.waitFor();
      // It stands below the list on a narrow page, and comes into sight.
      while ((await preview.boundingBox())!.y > 800) await page.waitForTimeout(50);
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
    await page.getByRole("button", { name: /^Pin #\d+/ }).click();
    await page.getByText(/is pinned/).waitFor();
    await page.getByRole("button", { name: "Redact…" }).click();
    await sound();
    await page.getByRole("button", { name: "Erase for good" }).click();
    await page.getByText(/are erased/).waitFor();
    await page.getByRole("option", { name: /\[redacted\] redacted/ }).waitFor();
    await page.getByText("Its words were erased, in the log too.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Redact…" }).count(), 0);
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

for (const [theme, width] of [
  ["dark", 1600],
  ["light", 1000],
  ["dark", 400],
] as const)
  test(`two requests are compared by hand and by keys, the chart zooms to them, and the address keeps all of it, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { theme, width, config: SMALL }, async ({ page, url, sound, picture }) => {
      await talked(url, 12);
      await page.goto("/threads/garden/timeline");
      await page.getByRole("list", { name: "Kinds" }).waitFor();
      const slider = page.getByRole("slider", { name: "Request" });
      const box = (await slider.boundingBox())!;
      await page.mouse.move(box.x + 60, box.y + 60);
      await page
        .locator(".tip")
        .getByText(/request \d+ of/)
        .waitFor();
      for (const share of [0.2, 0.45, 0.55, 0.95]) {
        await page.mouse.move(box.x + box.width * share, box.y + 60);
        const tip = (await page.locator(".tip").boundingBox())!;
        assert.ok(tip.x >= 0 && tip.x + tip.width <= width, `${share}: ${JSON.stringify(tip)}`);
      }
      await page.mouse.move(box.x + 60, box.y + 60);
      await page.keyboard.down("Shift");
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 4 });
      await page.mouse.up();
      await page.keyboard.up("Shift");
      await page.waitForURL(/from=\d+.*at=\d+/);
      await page.getByText(/^From #\d+ to #\d+/).waitFor();
      await page.getByText(/^Between them: \d+ requests/).waitFor();
      await sound();
      await picture("timeline-compared");
      await page.getByRole("button", { name: "Zoom to these" }).click();
      await page.waitForURL(/zoom=\d+-\d+/);
      await page.locator(".overview").waitFor();
      await page.reload();
      await page.getByText(/^From #\d+ to #\d+/).waitFor();
      await page.locator(".overview").waitFor();
      await sound();
      await page.getByRole("button", { name: "All" }).click();
      await page.locator(".overview").waitFor({ state: "detached" });
      await page.keyboard.press("m");
      await page.getByText(/^The request that #\d+ answered/).waitFor();
      const shown = Number(await slider.getAttribute("aria-valuenow"));
      await page.keyboard.press("ArrowLeft");
      await page.locator(`.chart[aria-valuenow="${shown - 1}"]`).waitFor();
      await page.keyboard.press("ArrowRight");
      await page.locator(`.chart[aria-valuenow="${shown}"]`).waitFor();
      await slider.focus();
      await page.keyboard.press("Home");
      await page.keyboard.press("Shift+ArrowRight");
      await page.keyboard.press("Shift+End");
      await page.getByText(/^From #\d+ to #\d+/).waitFor();
      await page.getByRole("link", { name: "Open this window" }).click();
      await page.waitForURL(/window\?at=\d+/);
      await page.getByText(/as it was at #\d+/).waitFor();
    });
  });

for (const [theme, width] of [
  ["light", 1600],
  ["dark", 1000],
  ["light", 400],
] as const)
  test(`a message is dragged to be pinned, hidden by a key and shown again, and a range is folded, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { theme, width, config: SMALL }, async ({ page, url, sound, picture }) => {
      await talked(url, 6);
      await page.goto("/threads/garden/window");
      const entries = page.getByRole("listbox", { name: "Entries of the request" }).getByRole("option");
      const cardamom = entries.filter({ hasText: "cardamom" }).first();
      await cardamom.click();
      await page.getByRole("button", { name: /^Pin #\d+/ }).waitFor();
      await page.waitForURL(/seq=\d+/);
      await cardamom.dragTo(page.getByRole("button", { name: /^Pin #\d+/ }));
      await page.getByText(/is pinned: every summary quotes it/).waitFor();
      await page.getByRole("button", { name: /^Unpin #\d+/ }).waitFor();
      await page.keyboard.press("h");
      await page.getByText(/The prompt gets .* smaller/).waitFor();
      await sound();
      await page.getByRole("button", { name: "Hide", exact: true }).click();
      await page.getByText(/^Hidden: \d+ tokens less/).waitFor();
      await page.getByRole("button", { name: /^Show again #/ }).waitFor();
      await page.keyboard.press("s");
      await page.getByText(/is shown again/).waitFor();
      await entries.nth(4).click();
      await entries.nth(7).click({ modifiers: ["Shift"] });
      await page.waitForURL(/from=\d+&seq=\d+/);
      await page.getByText(/^#\d+ to #\d+, 4 entries/).waitFor();
      await picture("window-range");
      await page.keyboard.press("z");
      await page.getByLabel(/What shall stand there/).fill("They talked about the wall. <b>bold</b>");
      await sound();
      await picture("window-fold");
      await page.getByRole("button", { name: "Fold", exact: true }).click();
      await page.getByText(/^Folded: \d+ tokens less/).waitFor();
      const fold = entries.filter({ hasText: /fold/ }).first();
      await fold.click();
      await page.getByRole("heading", { name: /as it was said/ }).waitFor();
      await page.getByRole("button", { name: /^Show again/ }).click();
      await fold.waitFor({ state: "detached" });
    });
  });

test("an address of a record that is no entry says what hides it, or that it is no message", async (t) => {
  await inspect(t, { width: 1000, config: SMALL }, async ({ page, url }) => {
    const at = await talked(url, 6);
    const { records } = (await (await fetch(`${url}/api/threads/garden/records?limit=200`)).json()) as {
      records: { seq: number; kind: string }[];
    };
    const detail = page.getByRole("region", { name: "What is chosen" });
    const other = records.find(({ kind, seq }) => kind !== "message" && seq > 0)!.seq;
    for (const seq of [other, 99_999]) {
      await page.goto(`/threads/garden/window?seq=${seq}`);
      await detail.getByText(`There is no message at #${seq} of this thread.`).waitFor();
      assert.equal(await detail.getByRole("button").count(), 0);
    }
    const [, , from = 0, middle = 0, until = 0] = records.flatMap(({ kind, seq }) => (kind === "message" ? seq : []));
    await at.post("/api/threads/garden/compact-range", { from, until });
    await page.goto(`/threads/garden/window?seq=${middle}`);
    await detail.getByText(`#${middle} is not in the window: a fold hides it.`).waitFor();
    await page.getByText(new RegExp(`, #${from} to #${until} folded`)).waitFor();
    await at.post("/api/threads/garden/compact", {});
    await page.goto(`/threads/garden/window?seq=${middle}`);
    await detail.getByText(/: compaction #\d+ hides it behind the summary\. The log has it word for word\./).waitFor();
    await detail.getByRole("button", { name: "Pin", exact: true }).waitFor();
  });
});

test("an entry that can't be folded says why, and changes nothing; the window of the past only shows", async (t) => {
  await inspect(t, { width: 1000, config: SMALL }, async ({ page, url, sound, expect, picture }) => {
    await talked(url, 3);
    const before = await (await fetch(`${url}/api/threads/garden`)).text();
    await page.goto("/threads/garden/window");
    const list = page.getByRole("listbox", { name: "Entries of the request" });
    // One short entry: what would stand for it is longer than it is.
    await list.getByRole("option").filter({ hasText: "Noted:" }).click();
    await page.waitForURL(/seq=\d+/);
    await list.focus();
    await page.getByRole("button", { name: /^Fold/ }).waitFor();
    expect(/status of 4\d\d/);
    await page.keyboard.press("z");
    await page.getByRole("alert").waitFor();
    assert.equal(await (await fetch(`${url}/api/threads/garden`)).text(), before);
    await page.goto("/threads/garden/window?at=6");
    await page.getByText("as it was at #6").waitFor();
    assert.equal(await page.getByRole("button", { name: /Compact|Undo|Pin|Hide|Fold/ }).count(), 0);
    await sound();
    await picture("window-past");
    await page.getByRole("link", { name: "Back to now" }).click();
    await page.getByRole("button", { name: "Compact…" }).waitFor();
  });
});

for (const [theme, width] of [
  ["light", 1600],
  ["dark", 1000],
  ["light", 400],
] as const)
  test(`the map lists what was talked about, is searched, and each part leads to the window, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { theme, width, config: SMALL }, async ({ page, url, sound, picture, expect }) => {
      await talked(url, 8);
      await page.goto("/threads/garden/map");
      const lines = page.locator("ol.map li");
      await lines.first().waitFor();
      await sound();
      await picture("map");
      await page.getByRole("searchbox", { name: "Filter the map" }).fill("xylophone");
      await page.getByText("No part of the map names that").waitFor();
      await page.getByRole("searchbox", { name: "Filter the map" }).fill("");
      await lines.first().getByRole("link").click();
      await page.waitForURL(/\/threads\/garden\/window\?seq=\d+/);
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(/status of 404/);
      await page.goto("/threads/never/map");
      await page.getByText("There is no such thread").waitFor();
    });
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

for (const [theme, width] of [
  ["light", 1600],
  ["dark", 1000],
  ["dark", 400],
] as const)
  test(`a window that is over-full looks over-full and has one thing to do about it, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { theme, width, config: SMALL }, async ({ page, url, sound, picture }) => {
      await fill(url, "over", 400, (index) => `message ${index} ${"about the sea ".repeat(15)}`);
      await page.goto("/threads/over/window");
      await page.getByText(/tokens do not fit/).waitFor();
      await page.getByRole("img", { name: /Now, more than the window of 8,000/ }).waitFor();
      await page.getByText("window ends: 8,000").waitFor();
      await sound();
      await picture("over-full");
      await page.getByRole("button", { name: "Compact now" }).click();
      await page.getByText("Undo takes it back").waitFor();
      await page.getByText(/tokens do not fit/).waitFor({ state: "detached" });
    });
  });

test("another window is tried by dragging its edge and by keys, and nothing is written", async (t) => {
  await inspect(t, { width: 1600, config: SMALL }, async ({ page, url, sound, picture, expect }) => {
    await talked(url, 8);
    const before = await (await fetch(`${url}/api/threads/garden`)).text();
    await page.goto("/threads/garden/window");
    const edge = page.getByRole("slider", { name: "Try another window size" });
    const box = (await edge.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 8);
    await page.mouse.down();
    await page.mouse.move(box.x - 700, box.y + 8, { steps: 4 });
    await page.mouse.up();
    await page.getByText(/In a window of [\d,]+ the next request would have/).waitFor();
    await edge.focus();
    await page.keyboard.press("Home");
    expect(/status of 422/);
    await page.getByText(/smallest possible prompt needs/).waitFor();
    await sound();
    await picture("try-size");
    await page.getByRole("button", { name: "Back to 8,000" }).click();
    assert.equal(await (await fetch(`${url}/api/threads/garden`)).text(), before);
  });
});
