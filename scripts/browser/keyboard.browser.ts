// The keyboard in a real browser: the palette, keys of views, and fields that have the focus before the next key comes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspector } from "./inspected.ts";
import { talked } from "./threads.ts";

const inspect = inspector();

test("the keyboard reaches everything: the palette, the views by number, the list by arrows", async (t) => {
  await inspect(t, { width: 1600 }, async ({ page, url, sound }) => {
    await talked(url);
    await page.goto("/threads/garden/timeline");
    await page.getByRole("slider", { name: "Request" }).waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate("document.activeElement.textContent"), "To the view");
    await page.goto("/threads");
    await page.getByRole("option", { name: "A garden" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("lab");
    await sound();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/lab$/);
    await page.keyboard.press("1");
    await page.waitForURL(/\/threads$/);
    await page.getByRole("listbox").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/window/);
    await page.keyboard.press("3");
    await page.waitForURL(/\/timeline/);
    // A view without a thread keeps the way back to the one that was open.
    await page.keyboard.press("7");
    await page.waitForURL(/\/memory$/);
    await page.keyboard.press("2");
    await page.waitForURL(/\/threads\/garden\/window/);
    await page.getByRole("link", { name: "Lab" }).click();
    await page.getByRole("link", { name: "Timeline" }).click();
    await page.waitForURL(/\/threads\/garden\/timeline/);
  });
});

test("a thread is listed with its id, and the palette finds it by id and by title", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page, url }) => {
    const at = await talked(url);
    await at.post("/api/threads/garden/fork", { at: 2, as: "q8" });
    await page.goto("/threads");
    await page.getByRole("option", { name: /A garden.*garden · / }).waitFor();
    for (const [words, place] of [
      ["q8", /\/threads\/q8\/window/],
      ["a garden", /\/threads\/garden\/window/],
    ] as const) {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill(words);
      await page.getByRole("option", { name: /^Open/ }).first().waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(place);
    }
    // The browser's own list of tabs names it, too.
    while ((await page.title()) !== "A garden · Palimpsest") await page.waitForTimeout(50);
  });
});

test("the palette acts on the list of threads, and searches everything for what was typed", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page, url }) => {
    await talked(url);
    await page.goto("/threads");
    await page.getByRole("option", { name: "A garden" }).click();
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Rename the chosen thread" }).waitFor();
    await page.getByRole("combobox", { name: "Jump to" }).fill("cardamom");
    await page.getByRole("option", { name: "Search everything ever said for “cardamom”" }).click();
    await page.getByText(/^\d+ hits? in 1 thread/).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Jump to" }).fill("start");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/chat$/);
  });
});

test("what is typed right after the key of a field reaches it, before anything is drawn", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page, url }) => {
    await talked(url);
    await page.goto("/threads");
    await page.getByRole("option", { name: "A garden" }).click();
    for (const [key, field] of [
      ["{ key: '/' }", "search"],
      ["{ key: 'e' }", "title"],
      ["{ key: 'k', ctrlKey: true }", "palette-field"],
    ] as const) {
      const focused = await page.evaluate<string>(`(async () => {
        document.querySelector("main").dispatchEvent(new KeyboardEvent("keydown", { ...${key}, bubbles: true }));
        for (let turn = 0; turn < 50; turn += 1) await null;
        return document.activeElement.id;
      })()`);
      assert.equal(focused, field);
      await page.keyboard.press("Escape");
    }
  });
});

test("a new chat takes what is typed from its first moment, and goes on doing so after the first message", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page, url }) => {
    await talked(url, 1);
    const loaded = page.waitForResponse(/opened-later/);
    await page.goto("/threads");
    await page.getByRole("option", { name: "A garden" }).waitFor();
    await loaded;
    await page.keyboard.press("n");
    await page.keyboard.type("Where do herons nest?");
    const field = page.getByRole("textbox", { name: "Message", exact: true });
    assert.equal(await field.inputValue(), "Where do herons nest?");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/threads\/.+\/chat/);
    await page.keyboard.type("And storks?");
    assert.equal(await field.inputValue(), "And storks?");
    await page.goto("/chat");
    await page.getByText("A new conversation").click();
    await page.keyboard.press("c");
    await page.keyboard.type("Reeds");
    assert.equal(await field.inputValue(), "Reeds");
  });
});

test("the question mark lists the keys of the view and types nothing", async (t) => {
  await inspect(t, { width: 400 }, async ({ page, url, sound, picture }) => {
    await talked(url, 1);
    await page.goto("/threads/garden/window");
    await page.getByRole("option", { name: /^user Plan a garden/ }).waitFor();
    await page.keyboard.press("?");
    const keys = page.getByRole("listbox", { name: "Actions" });
    await keys.getByRole("option", { name: "Preview a compaction p" }).waitFor();
    await keys.getByRole("option", { name: "Search everything ever said /" }).waitFor();
    assert.equal(await page.getByRole("combobox", { name: "Jump to" }).inputValue(), "");
    assert.equal(await keys.getByRole("option", { name: "Change between light" }).count(), 0);
    await sound();
    await picture("keys");
  });
});
