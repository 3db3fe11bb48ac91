// The page as it is served: how much of it there is, and that nothing in it needs what its policy forbids.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { buildPage } from "../build.mjs";

const MOST_BYTES = 80_000;
/** The list of threads and the window; the other views come when they are opened. */
const MOST_AT_FIRST = 50_000;

/** As the gateway sends it. */
const zipped = (bytes: Uint8Array) => gzipSync(bytes, { level: 9 }).length;

test(`the page has at most ${MOST_BYTES / 1000} kB in all, and loads nothing but its own files`, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bundle-"));
  t.after(() => rmSync(folder, { recursive: true }));
  await buildPage(folder);
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = names.map(({ parentPath, name }) => ({ name, bytes: readFileSync(join(parentPath, name)) }));
  const sizeOf = (some: typeof files) => some.reduce((sum, { bytes }) => sum + zipped(bytes), 0);
  const size = sizeOf(files);
  t.diagnostic(`${size} bytes: ${files.map(({ name, bytes }) => `${name} ${zipped(bytes)}`).join(", ")}`);
  assert.ok(size <= MOST_BYTES, `${size} bytes`);
  const atFirst = sizeOf(files.filter(({ name }) => !name.startsWith("opened-later-")));
  assert.ok(atFirst <= MOST_AT_FIRST, `${atFirst} bytes before the first view`);
  const html = files.find(({ name }) => name === "index.html")!.bytes.toString();
  const named = [...html.matchAll(/<(\w+)[^>]*\s(?:src|href)="([^"]+)"/g)].map(([, tag, address]) => ({
    tag,
    address: address!,
  }));
  const own = { loaded: /^\/assets\/[\w-]+-\w+\.(?:js|css|svg)$/, linked: /^\/(?:openapi\.json)?$/ };
  for (const { tag, address } of named) assert.match(address, tag === "a" ? own.linked : own.loaded);
  assert.doesNotMatch(html, /<style|style=|<script(?! type="module" src=)|\son\w+=/);
});
