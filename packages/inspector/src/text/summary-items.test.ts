import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { summarySections } from "./summary-items.ts";

test("items name the records they rest on, at their start or their end", () => {
  const text = `Record of the earlier conversation.\nNumbers in brackets are message numbers.\n\n## Quoted word for word\n- [159]\n~~~\nwrite "a\n- b"\n~~~\n- [3] I am Ada.\n\n## Goals\n- Plan a garden [3]\n- Decide on [x] soil [71, 149]\n- and 2 more: history/ or recall\n`;
  const [opening, quoted, goals] = summarySections(text);
  assert.deepEqual([opening!.title, opening!.items.length], [null, 1]);
  assert.deepEqual(quoted!.items, [
    { text: 'write "a\n- b"', seqs: [159] },
    { text: "I am Ada.", seqs: [3] },
  ]);
  assert.deepEqual(goals, {
    title: "Goals",
    items: [
      { text: "Plan a garden", seqs: [3] },
      { text: "Decide on [x] soil", seqs: [71, 149] },
      { text: "and 2 more: history/ or recall", seqs: [] },
    ],
  });
});

test("no text is too strange, and no word of it is lost", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const words = summarySections(text).flatMap(({ title, items }) => [
        title ?? "",
        ...items.map((item) => item.text),
      ]);
      for (const word of text.split(/[\s[\]~#-]+/))
        if (/^[a-z]{2,}$/i.test(word)) assert.ok(words.join(" ").includes(word));
    }),
  );
});
