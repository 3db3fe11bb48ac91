// The chat in a real browser: what a person does there, with a provider that says what the test tells it to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { upstream } from "../../packages/gateway/test/upstream.ts";
import { inspector } from "./inspected.ts";

const inspect = inspector();

test("a message is asked, its answer streams in, and the window is always in sight", async (t) => {
  const provider = await upstream(t);
  await inspect(t, { config: provider.config }, async ({ page, picture, sound }) => {
    await page.goto("/chat");
    await sound();
    await picture("chat-new");
    await page.getByRole("textbox", { name: "Message" }).fill("Which river runs through Vienna?");
    await page.keyboard.press("Enter");
    const asked = await provider.next();
    asked.say("The ");
    await page.getByText("The", { exact: true }).waitFor();
    await sound();
    asked.say("Danube.\n\n```ts\nconst river = 'Danube';\n```");
    asked.end();
    await page.getByRole("button", { name: "Answer again" }).waitFor();
    await page.getByRole("img", { name: /of 100,000 tokens/ }).waitFor();
    assert.match(await page.locator(".said-assistant").innerText(), /The Danube\.\s+const river = 'Danube';/);
    await picture("chat");
  });
});
