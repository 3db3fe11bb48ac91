// Three hundred sentences that were labelled by somebody who had not seen the forms: how many of the marked ones are right, how many are found.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { standingSentences } from "./standing.ts";

interface Labelled {
  readonly text: string;
  readonly label: "rule" | "preference" | "none";
}

const ALL = JSON.parse(
  readFileSync(new URL("./fixtures/standing-sentences.json", import.meta.url), "utf8"),
) as readonly Labelled[];
/** The forms were widened with every second sentence in view; the others were only counted. */
const UNSEEN = ALL.filter((_, at) => at % 2 === 1);

for (const [name, sentences, least] of [
  ["all of them", ALL, 0.6],
  ["those that nobody looked at", UNSEEN, 0.3],
] as const)
  test(`of ${name}, nine in ten marked sentences are rules or preferences, and the kind is right`, (t) => {
    const marked = sentences.map(({ text, label }) => ({
      label,
      kinds: standingSentences(text).map(({ kind }) => kind),
    }));
    const yes = marked.filter(({ kinds }) => kinds.length > 0);
    const right = yes.filter(({ label, kinds }) => kinds.includes(label === "rule" ? "instruction" : "preference"));
    const wanted = marked.filter(({ label }) => label !== "none").length;
    t.diagnostic(`precision ${right.length} of ${yes.length}, recall ${right.length} of ${wanted}`);
    assert.ok(right.length >= 0.9 * yes.length, `${right.length} of ${yes.length}`);
    assert.ok(right.length >= least * wanted, `${right.length} of ${wanted}`);
  });
