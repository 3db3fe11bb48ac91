import assert from "node:assert/strict";
import { test } from "node:test";
import { batchesOf } from "./batches.ts";

const CASES: readonly { title: string; files: string; batches: string; most?: number }[] = [
  { title: "files of one package share a process", files: "packages/a/src/1 packages/a/src/b/2", batches: "2" },
  { title: "files of two packages don't", files: "packages/a/src/1 packages/b/src/2", batches: "1 1" },
  { title: "files of the scripts share one", files: "packages/a/src/1 scripts/2 scripts/3", batches: "1 2" },
  { title: "files elsewhere share one by folder", files: "/x/a/1 /x/a/2 /x/b/3", batches: "2 1" },
  { title: "no more than the limit", files: "scripts/1 scripts/2 scripts/3", batches: "2 1", most: 2 },
  {
    title: "what starts many processes stands alone",
    files: "scripts/1 scripts/2.process scripts/3.process scripts/4",
    batches: "1 1 1 1",
  },
  { title: "nothing", files: "", batches: "" },
];

for (const { title, files, batches, most = 10 } of CASES)
  test(`${title}, and no file is lost`, () => {
    const paths = files.split(" ").flatMap((name) => (name === "" ? [] : [`${name}.test.ts`]));
    const found = batchesOf(paths, most);
    assert.equal(found.map((batch) => batch.length).join(" "), batches);
    assert.deepEqual(found.flat(), paths);
  });

test("a file that isn't a plain test keeps its own process", () => {
  assert.deepEqual(batchesOf(["a/1.browser.ts", "a/2.browser.ts"], 10), [["a/1.browser.ts"], ["a/2.browser.ts"]]);
});
