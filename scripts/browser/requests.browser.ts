// The requests view in a real browser: what clients of the compatible endpoints sent, and the result.
import assert from "node:assert/strict";
import { test } from "node:test";
import { upstream } from "../../packages/gateway/test/upstream.ts";
import { inspector } from "./inspected.ts";

const inspect = inspector();

for (const [store, theme, width] of [
  ["sqlite", "light", 1600],
  ["postgres", "dark", 400],
  ["sqlite", "dark", 1000],
] as const)
  test(`requests are listed as they come, found by words, and opened, on ${store}, ${theme}, ${width} pixels`, async (t) => {
    const provider = await upstream(t);
    await inspect(
      t,
      { config: provider.config, store, theme, width },
      async ({ page, url, picture, sound, expect }) => {
        const complete = async (messages: readonly object[], answer: string | null) => {
          const asking = fetch(`${url}/v1/chat/completions`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ model: "small", stream: true, messages }),
          });
          const asked = await provider.next();
          if (answer === null) asked.refuse(400, "no");
          else {
            asked.say(answer);
            asked.end();
          }
          await (await asking).text();
        };
        await page.goto("/requests");
        await page.getByText("No client has asked anything yet").waitFor();
        await sound();
        const question = { role: "user", content: "Which <b>river</b>?" };
        await complete([question], "The Danube.");
        const rows = page.getByRole("table").getByRole("row");
        await page.getByRole("table").getByText("new", { exact: true }).waitFor();
        const history = [
          question,
          { role: "assistant", content: "The Danube." },
          { role: "user", content: "How long?" },
        ];
        await complete(history, "2,850 km.");
        await page.getByRole("table").getByText("extended").waitFor();
        if (width > 700) {
          const { threads } = (await (await fetch(`${url}/api/threads`)).json()) as { threads: { id: string }[] };
          const body = JSON.stringify({ title: "Rivers <b>of</b> Europe" });
          const headers = { "content-type": "application/json" };
          await fetch(`${url}/api/threads/${threads[0]!.id}`, { method: "PATCH", headers, body });
          await page.getByRole("cell", { name: "Rivers <b>of</b> Europe" }).first().waitFor();
        }
        await complete([{ role: "user", content: "Fail." }], null);
        await page
          .getByRole("table")
          .getByText(/failed|refused/)
          .waitFor();
        assert.equal(await rows.count(), 4);
        await page.getByRole("searchbox", { name: "Find requests" }).fill("extended");
        await rows.nth(2).waitFor({ state: "detached" });
        assert.equal(await rows.count(), 2);
        await rows.nth(1).getByRole("link").click();
        await page.getByText("Matched: extended").waitFor();
        await picture("requests");
        await sound();
        await page.keyboard.press("Escape");
        await page.getByText("The client sent").waitFor({ state: "detached" });
        await page.getByRole("searchbox").fill("nothing at all");
        await page.getByText("No request has all of these words.").waitFor();
        expect(/404/);
        await page.goto("/requests/none");
        await page.getByRole("alert").waitFor();
      },
    );
  });
