// Bad input and failures: the page stays up, says it, and shows everything as the text that it is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createKey } from "../../packages/harness/src/operations/keys.ts";
import { inspector } from "./inspected.ts";

const inspect = inspector();

const BROKEN_IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const STRANGE = [
  `<img src=x onerror="document.title='broken in'"><script>document.title='broken in'</script>`,
  "javascript:alert(1) [link](javascript:alert(1)) {{7*7}}",
  "zero \u0000 escape \u001b[31m bell \u0007 turned \u202e txet \u2066 hidden",
  "مرحبا بالعالم שלום עולם",
  "a".repeat(20_000),
  "\ud83d\udc69\u200d\ud83d\udcbb e\u0301 \u{1F1E6}\u{1F1F9}",
];

/** Lines that `import` reads. */
function lines(texts: readonly unknown[]): string {
  return texts
    .map((content, index) => JSON.stringify({ role: index % 2 === 0 ? "user" : "assistant", content }))
    .join("\n");
}

async function imported(url: string, id: string, text: string): Promise<void> {
  const headers = { "content-type": "application/jsonl" };
  const response = await fetch(`${url}/api/threads/${id}/import`, { method: "POST", headers, body: text });
  assert.equal(response.status, 200, await response.text());
}

for (const [theme, width] of [
  ["light", 400],
  ["dark", 1000],
] as const)
  test(`markup, scripts, control characters, right-to-left text and broken images are shown as text, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { theme, width }, async ({ page, url, picture }) => {
      const image = [{ type: "text", text: "Look:" }, BROKEN_IMAGE];
      await imported(url, "strange", lines([...STRANGE, image, "Seen."]));
      await page.goto("/threads/strange/chat");
      await page.getByText("Seen.").waitFor();
      await page.locator(".said-user").getByText("<img src=x onerror=").first().waitFor();
      await page.getByText(/^\[Attached image.*: can't be shown\]$/).waitFor();
      await page.getByText("zero ␀ escape ␛[31m bell ␇ turned").waitFor();
      assert.doesNotMatch(await page.title(), /broken in/);
      await picture("chat-strange");
      const fact = { content: `<b onclick=x>${STRANGE[2]}</b>`, category: "<i>odd</i>" };
      await fetch(`${url}/api/memory/facts`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(fact),
      });
      await page.goto("/memory");
      await page.getByText("<b onclick=x>").first().waitFor();
      await picture("memory-strange");
    });
  });

test("the window's title shows signs of an address that turn text, though no thread has such a name", async (t) => {
  await inspect(t, {}, async ({ page, expect }) => {
    expect(/404 \(Not Found\)/);
    await page.goto(`/threads/${encodeURIComponent("a\u202eb")}/window`);
    await page.waitForFunction(`document.title !== "Palimpsest"`);
    assert.equal(await page.title(), "a\ufffdb · Palimpsest");
  });
});

test("a chat of long messages opens at its last one, and stays where its reader scrolls to", async (t) => {
  await inspect(t, {}, async ({ page, url }) => {
    const long = Array.from({ length: 60 }, (_, index) => `${index} ${"far out at sea ".repeat(index > 50 ? 300 : 9)}`);
    await imported(url, "tall", lines([...long, "Seen."]));
    await page.goto("/threads/tall/chat");
    await page.getByText("Seen.").waitFor();
    while ((await page.evaluate<number>(below)) > 1) await page.getByText("Seen.").waitFor();
    await page.mouse.move(640, 400);
    await page.mouse.wheel(0, -3_000);
    while ((await page.evaluate<number>(below)) < 1_000) await page.getByText("Seen.").waitFor();
    await page.screenshot();
    assert.ok((await page.evaluate<number>(below)) > 1_000);
  });
});

const below = `(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(
  document.querySelector(".chat-log"),
)`;

test("a message of 5 MB is cut, and shown further when one asks for it", async (t) => {
  await inspect(t, {}, async ({ page, url }) => {
    await imported(url, "long", lines(["x ".repeat(2_500_000), "That was long."]));
    await page.goto("/threads/long/chat");
    await page.getByText("That was long.").waitFor();
    await page.getByText("20,000 of 5,000,000 characters").waitFor();
    await page.getByRole("button", { name: "Show the first 200,000" }).click();
    await page.getByText("200,000 of 5,000,000 characters").waitFor();
  });
});

test("a thread that is deleted in another tab is said to be gone", async (t) => {
  await inspect(t, {}, async ({ page, url, expect }) => {
    await imported(url, "gone", lines(["Here?", "Here."]));
    await page.goto("/threads/gone/chat");
    await page.getByText("Here.", { exact: true }).waitFor();
    const headers = { "x-palimpsest-page": "1" };
    assert.equal((await fetch(`${url}/api/threads/gone`, { method: "DELETE", headers })).status, 200);
    expect(/404/);
    await page
      .getByRole("alert")
      .getByText(/there is no thread/i)
      .waitFor();
  });
});

test("a store that goes away is said beside what it was asked for, and what is shown stays", async (t) => {
  await inspect(t, {}, async ({ page, url, home, expect }) => {
    await imported(url, "kept", lines(["Here?", "Here."]));
    await page.goto("/threads/kept/chat");
    await page.getByText("Here.", { exact: true }).waitFor();
    await page.goto("/memory");
    await page.getByText("Nothing is remembered yet").waitFor();
    await page.goto("/threads/kept/chat");
    await page.getByText("Here.", { exact: true }).waitFor();
    expect(/50\d|api\/changes/);
    await home.store.close();
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("Still there?");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").first().waitFor();
    assert.ok(await page.getByText("Here.", { exact: true }).isVisible());
  });
});

test("a key that ends asks for another one, and the view goes on with it", async (t) => {
  await inspect(t, {}, async ({ page, home, expect, picture }) => {
    const key = () => createKey(home.store.keys!, { user: "ada", role: "user", expiresAt: null }, new Date());
    expect(/401/);
    const first = await key();
    const second = await key();
    await page.goto("/memory");
    const field = page.getByLabel(/key/i).first();
    await field.fill(first.key);
    await page.keyboard.press("Enter");
    await page.getByText("Nothing is remembered yet").waitFor();
    await page.getByRole("button", { name: "Add…" }).click();
    await page.getByRole("textbox", { name: "The fact" }).fill("Likes tea");
    await home.store.keys!.revoke(first.id, new Date().toISOString());
    // What the page asks for by itself may be refused first: then the field is there already.
    await page.getByRole("button", { name: "Save" }).or(field).first().click();
    await field.waitFor();
    await picture("sign-in");
    await field.fill(second.key);
    await page.keyboard.press("Enter");
    await page.getByText("Nothing is remembered yet").waitFor();
  });
});

test("a view whose file the gateway no longer has says so, and loading the page again brings it", async (t) => {
  await inspect(t, {}, async ({ page, expect }) => {
    expect(/404|Failed to (?:load|fetch)/);
    const file = "**/assets/opened-later-*";
    await page.route(file, (route) => route.fulfill({ status: 404, body: "" }));
    await page.goto("/threads");
    await page.getByRole("link", { name: "Lab", exact: true }).click();
    await page.getByText("This view could not be loaded").waitFor();
    await page.unroute(file);
    await page.getByRole("button", { name: "Load the page again" }).click();
    await page.getByText("What would each policy have done?").waitFor();
  });
});
