// A person who has never seen the page, without help: why the last compaction happened, what it hid, where a sentence of the
// summary comes from, and how to take it back. Each click is counted.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator } from "playwright-core";
import { inspector } from "./inspected.ts";

const inspect = inspector();

test("why the last compaction happened, what it hid, where a sentence comes from and how to take it back: six clicks from the threads", async (t) => {
  const config = "models: [{ name: small, provider: offline, model: offline, max_input_tokens: 4500 }]\n";
  await inspect(t, { config, width: 1600 }, async ({ page, url, picture, sound }) => {
    const headers = { "content-type": "application/json" };
    for (let turn = 1; turn < 12; turn += 1) {
      const prompt = `Note ${turn}: we decided that tide table ${turn} is kept in minutes. ${"It must never be a float. ".repeat(20)}`;
      await fetch(`${url}/api/threads/tides/runs`, { method: "POST", headers, body: JSON.stringify({ prompt }) });
    }
    let clicks = 0;
    const click = async (target: Locator) => {
      await target.click();
      clicks += 1;
    };
    await page.goto("/");
    const main = page.getByRole("main");
    // The first chooses the thread, the second opens it.
    await click(main.getByText(/^Note 1: we decided/).first());
    await click(main.getByText("Open", { exact: true }));
    await main
      .getByText(/had passed 85 % of the window/)
      .first()
      .waitFor();
    await click(main.getByRole("button", { name: "Read what it hides" }));
    await main
      .getByText(/^Note 3: we decided/)
      .first()
      .waitFor();
    await picture("new-user-hid");
    await click(main.getByRole("button", { name: /^(?:Back|Close)/ }));
    await click(main.getByRole("button", { name: /Note \d+: we decided.*#\d+$/ }).first());
    await page
      .getByRole("region", { name: "Where that comes from" })
      .getByText(/Note \d+: we decided/)
      .first()
      .waitFor();
    await picture("new-user-source");
    await sound();
    const name = (await main.getByRole("button", { name: /^Undo #/ }).innerText()).trim();
    await click(main.getByRole("button", { name, exact: true }));
    await main.getByRole("button", { name, exact: true }).waitFor({ state: "detached" });
    await picture("new-user-undone");
    assert.equal(clicks, 6);
  });
});
