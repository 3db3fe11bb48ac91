// The memory view in a real browser: what is remembered, corrected, forgotten, taken back and carried elsewhere.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { chooseFile, inspector } from "./inspected.ts";

const inspect = inspector();

for (const [store, theme, width] of [
  ["sqlite", "dark", 1600],
  ["postgres", "light", 1000],
] as const)
  test(`facts are added, corrected, found, forgotten and taken back; each change is listed, on ${store}, ${theme}, ${width} pixels`, async (t) => {
    await inspect(
      t,
      { store, theme, width, config: `memory: { storage_class: ${store} }\n` },
      async ({ page, picture, sound }) => {
        await page.goto("/memory");
        await page.getByText("Nothing is remembered yet").waitFor();
        await sound();
        await page.keyboard.press("a");
        await page.getByRole("textbox", { name: "The fact" }).fill("Prefers short answers");
        await page.keyboard.press("Control+Enter");
        await page.getByRole("listitem").filter({ hasText: "Prefers short answers" }).first().waitFor();
        await page.getByRole("button", { name: "Edit Prefers short answers" }).click();
        await page.getByRole("textbox", { name: "The fact" }).fill("Prefers very short answers");
        await page.getByRole("button", { name: "Save" }).click();
        await page.locator(".fact").getByText("by hand").waitFor();
        await page.getByRole("searchbox", { name: "Find a fact" }).fill("elephant");
        await page.getByText("No fact has all of these words.").waitFor();
        await page.getByRole("searchbox", { name: "Find a fact" }).fill("");
        await picture("memory");
        await page.getByRole("button", { name: "Forget Prefers very short answers" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
        await page.getByText("Nothing is remembered yet").waitFor();
        await page.getByRole("button", { name: "Undo c3.1" }).click();
        await page.getByRole("button", { name: "Forget Prefers very short answers" }).waitFor();
      },
    );
  });

test("sections are rewritten; the document is exported, imported again, and what is no document is refused beside its button", async (t) => {
  await inspect(t, { theme: "dark", width: 400 }, async ({ page, picture }) => {
    await page.goto("/memory");
    await page.getByRole("button", { name: "Edit Top of mind" }).click();
    await page.getByRole("textbox", { name: "Top of mind" }).fill("The move to <b>Bergen</b>");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The move to <b>Bergen</b>").first().waitFor();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const document = JSON.parse(await readFile(await (await saved).path(), "utf8"));
    assert.equal(document.userContext.topOfMind, "The move to <b>Bergen</b>");
    document.facts.push({ id: "x", content: "Sails", category: "hobby", confidence: 0.8 });
    await chooseFile(page, "Import…", { name: "m.json", text: "no JSON" });
    await page.getByText("That file is not JSON.").waitFor();
    await chooseFile(page, "Import…", { name: "m.json", text: JSON.stringify(document) });
    await page.getByRole("button", { name: "Forget Sails" }).waitFor();
    await picture("memory-sections");
  });
});

test("what the last request was lent from memory is shown, with the turns that a learned fact comes from", async (t) => {
  const config = "memory: { debounce_seconds: 0 }\n";
  await inspect(t, { config, width: 1000 }, async ({ page, url, picture }) => {
    const ask = (threadId: string, prompt: string) =>
      fetch(`${url}/api/threads/${threadId}/runs`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ prompt }),
      });
    await ask("one", "My name is Ada and I live in Bergen.");
    await page.goto("/memory");
    const fact = page.locator(".fact").filter({ hasText: "Bergen" });
    await fact.getByRole("link", { name: /#\d+$/ }).waitFor();
    await ask("two", "Where do I live?");
    await page.getByText(/Beside its question #\d+/).click();
    await page
      .locator(".memory-side .prose")
      .getByText(/Bergen/)
      .first()
      .waitFor();
    await picture("memory-lent");
  });
});
