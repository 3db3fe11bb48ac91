// Markdown in the chat, in a real browser: set as people read it, and harmless whatever it holds.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseFile, inspector } from "./inspected.ts";

const inspect = inspector();

const ANSWER = `# The tides
Two of them **a day**, with \`13 h\` between; see [the almanac](https://tides.example/today "x").

1. Ebb
   - *slow* at first
2. Flood

- [x] read
- [ ] sail

| port | metres | remark |
| :--- | ---: | --- |
| Dover | 6.7 | strong |
| Cork | 3.7 | \`a\\|b\` |

> Never sail **alone**.

---
\`\`\`ts
const tide = "high";
\`\`\`
`;

const HOSTILE = `<img src=x onerror=alert(1)> <script>alert(1)</script>
[click](javascript:alert(1)) [own](/api/user) ![spy](https://spy.example/pixel.png) ![x](javascript:alert(1)) ![p](/mnt/user-data/../../etc/x.png)

<style>body{display:none}</style>

|a|b|
|-|-|
|<b>x</b>|![y](https://spy.example/cell.png)|

${"> ".repeat(60)}deep

${"- ".repeat(60)}deep

${"wide".repeat(300)}
`;

async function put(url: string, id: string, texts: readonly string[]): Promise<void> {
  const body = texts
    .map((content, index) => JSON.stringify({ role: index % 2 === 0 ? "user" : "assistant", content }))
    .join("\n");
  const headers = { "content-type": "application/jsonl" };
  await fetch(`${url}/api/threads/${id}/import`, { method: "POST", headers, body });
}

for (const [theme, width] of [
  ["light", 1600],
  ["dark", 1000],
  ["dark", 400],
] as const)
  test(`Markdown is set: headings, lists, tables, code and links, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { theme, width }, async ({ page, url, sound, picture }) => {
      await put(url, "tides", ["When is high water?", ANSWER]);
      await page.goto("/threads/tides/chat");
      const answer = page.locator(".said-assistant");
      await answer.getByRole("heading", { name: "The tides" }).waitFor();
      assert.equal(await answer.locator("ol > li").count(), 2);
      assert.equal(await answer.getByRole("checkbox", { checked: true }).count(), 1);
      assert.equal(await answer.getByRole("cell", { name: "6.7" }).count(), 1);
      assert.equal(await answer.getByRole("cell", { name: "a|b" }).count(), 1);
      const link = answer.getByRole("link", { name: "the almanac" });
      assert.equal(await link.getAttribute("href"), "https://tides.example/today");
      assert.match((await link.getAttribute("rel")) ?? "", /noopener/);
      assert.equal(await answer.locator("strong", { hasText: "alone" }).count(), 1);
      await sound();
      await picture("markdown");
    });
  });

test("nothing that Markdown holds runs, leads into the page or is fetched unasked", async (t) => {
  await inspect(t, { width: 400 }, async ({ page, url, sound, picture }) => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await put(url, "hostile", ["Say it.", HOSTILE]);
    await page.goto("/threads/hostile/chat");
    const answer = page.locator(".said-assistant");
    await answer.getByText("<script>alert(1)</script>").waitFor();
    assert.equal(await answer.locator("img, script, style").count(), 0);
    const targets = await answer
      .locator(".prose a")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    assert.deepEqual(targets, ["https://spy.example/pixel.png", "https://spy.example/cell.png"]);
    assert.deepEqual(
      asked.filter((address) => !address.startsWith(url)),
      [],
    );
    await sound();
    await picture("markdown-hostile");
  });
});

/** One pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("a picture that is uploaded is shown with its message, other files are named", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page, sound }) => {
    await page.goto("/chat");
    const notes = { name: "notes.txt", text: "high water at noon" };
    await chooseFile(page, "Upload…", { name: "dot.png", text: PNG }, notes);
    await page.getByRole("list", { name: "Files with your next message" }).getByText("notes.txt").waitFor();
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("What is in these?");
    await page.keyboard.press("Enter");
    const files = page.getByRole("list", { name: "Files with this message" });
    const shown = files.getByRole("img", { name: "dot.png" });
    await shown.waitFor();
    await page.waitForFunction(`document.querySelector(".uploads img").naturalWidth === 1`);
    assert.match(
      (await files.getByRole("link", { name: "notes.txt" }).getAttribute("href")) ?? "",
      /uploads\/notes\.txt$/,
    );
    await page.getByRole("button", { name: "Answer again" }).waitFor();
    await sound();
  });
});
