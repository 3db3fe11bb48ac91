// The browser itself, and that the watch over its pages sees what it is there for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspector } from "./inspected.ts";

const inspect = inspector();

test("a page's errors, broken policy and what axe finds fail a visit; a quiet page passes", async (t) => {
  const around = (inside: string) =>
    `<!doctype html><html lang=en><title>t</title><main><h1>Quiet</h1>${inside}</main>`;
  const pages: Readonly<Record<string, string>> = {
    "console error: heard": `<script>console.error("heard")</script>`,
    "not caught": `<script>throw new Error("x")</script>`,
    policy: `<img alt=x src=http://127.0.0.1:1/x>`,
    "image-alt": `<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">`,
    wider: `<div style="width:3000px">wide</div>`,
  };
  const visit = (body: string) =>
    inspect(t, {}, async ({ page, url }) => {
      const headers = { "content-type": "text/html", "content-security-policy": "img-src data:" };
      await page.route(`${url}/`, (route) => route.fulfill({ headers, body: around(body) }));
      await page.goto("/");
    });
  await visit("");
  for (const [problem, body] of Object.entries(pages))
    await assert.rejects(visit(body), (error: Error) => error.message.includes(problem), problem);
});
