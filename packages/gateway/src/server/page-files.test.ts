import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { running, sent } from "../../test/running.ts";
import { pageFiles } from "./page-files.ts";

const get = (path: string, headers: Record<string, string> = {}) => new Request(`http://127.0.0.1${path}`, { headers });

test("every address of the page gets its document, and what it loads may be kept for good", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-page-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const page = pageFiles(folder);
  const none = page.answer(get("/"));
  assert.equal(none.status, 503);
  assert.match(await none.text(), /npm run page/);

  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), "<!doctype html>page");
  writeFileSync(join(folder, "assets", "main-A1.js"), "let a;");
  for (const path of ["/", "/threads/a%2Fb/window", "/memory"]) {
    const answer = page.answer(get(path));
    assert.equal(await answer.text(), "<!doctype html>page");
    assert.equal(answer.headers.get("cache-control"), "no-cache");
  }
  const script = page.answer(get("/assets/main-A1.js", { "accept-encoding": "gzip, br" }));
  assert.match(script.headers.get("cache-control")!, /immutable/);
  assert.equal(script.headers.get("content-encoding"), "gzip");
  for (const path of ["/assets/main-B2.js", "/assets/..%2Findex.html", "/assets/"])
    assert.equal(page.answer(get(path)).status, 404, path);
});

test("the page needs no key, runs no script of another site, and hides no route", async (t) => {
  const at = await running(t);
  const page = await sent(at, "/threads/some/timeline", {
    headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
  });
  assert.ok(page.status === 200 || page.status === 503);
  assert.match(String(page.headers["content-security-policy"]), /^default-src '(?:self|none)'/);
  assert.doesNotMatch(String(page.headers["content-security-policy"]), /unsafe|http/);
  const nothing = await sent(at, "/nothing");
  assert.equal(nothing.status, 404);
  assert.match(nothing.text, /"no-route"/);
  const person = await sent(at, "/nothing", { headers: { accept: "text/html,*/*;q=0.8" } });
  assert.ok(person.status === 404 || person.status === 503);
  assert.match(String(person.headers["content-type"]), /^text\/html/);
  assert.match((await sent(at, "/api/threads")).text, /"threads"/);
});
