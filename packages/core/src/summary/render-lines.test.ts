import assert from "node:assert/strict";
import { test } from "node:test";
import { plainPrompt } from "@palimpsest/testing/internal/shapes";
import { clampEntry } from "../compaction/clamp.ts";
import { type AiSdkMessage, aiSdkShape } from "../message/ai-sdk.ts";
import { file, image } from "../message/schema.ts";
import type { FilePart, ImagePart } from "../message/shape.ts";
import { sizesOf } from "../prompt/sizer.ts";
import { charsPerToken } from "../tokens/counter.ts";
import { extractSummary } from "./extract.ts";
import { renderTranscript } from "./prompts/transcript.ts";
import { renderSummary } from "./render.ts";
import { mediaName, type NOWHERE, quote, RECALL } from "./render-lines.ts";

const data = "QUJD".repeat(4000);
const count = charsPerToken(4);
const photo = image("image/png", { data });
const report = file({ mediaType: "application/pdf", name: "report.pdf", data: "QUJD".repeat(1000) });

const named: readonly (readonly [ImagePart | FilePart, string])[] = [
  [photo, "image, image/png, 12 kB"],
  [image(null, { data: "QUJD" }), "image, 3 bytes"],
  [
    aiSdkImage({ type: "file", mediaType: "image/png", data: "QUJD", filename: "chart.png" }),
    "image chart.png, image/png, 3 bytes",
  ],
  [
    image("image/jpeg", { url: "https://a:b@x.test/cat.jpg?token=secret#top" }),
    "image, image/jpeg, at https://x.test/cat.jpg",
  ],
  [report, "file report.pdf, application/pdf, 3 kB"],
  [file({ mediaType: "text/plain", data: "hello", encoding: "text" }), "file, text/plain, 5 bytes"],
  [file({ name: "film.mp4", data: "QUJD".repeat(500_000) }), "file film.mp4, 1.5 MB"],
  [file({ ref: "file-abc123" }), "file, at file-abc123"],
  [file({ name: "a\n## b.txt" }), "file a ## b.txt"],
];
for (const [part, words] of named) {
  test(`in words: ${words}`, () => assert.equal(mediaName(part), words));
}

const [asked] = aiSdkShape.make("user", [{ kind: "text", text: "What is wrong in this chart?" }, photo, report]);
const entries = [{ seq: 3, message: asked! }];

test("a summarizer reads what was given beside the words: type, name and size", () => {
  const text = renderTranscript(entries, aiSdkShape);
  assert.match(text, /\[#3 user\]\n\(image, image\/png, 12 kB; not shown\)/);
  assert.match(text, /\(file report\.pdf, application\/pdf, 3 kB; not shown\)/);
});

test("the extract and the user's quoted words name images and files, with the message they are in", () => {
  const state = extractSummary(null, entries, aiSdkShape, { maxTokens: 1000, count });
  const { text } = renderSummary(state, { maxTokens: 1000, count });
  assert.match(text, /user gave: image, image\/png, 12 kB \[3\]/);
  assert.match(text, /user gave: file report\.pdf, application\/pdf, 3 kB \[3\]/);
  assert.match(quote(3, asked!, aiSdkShape).text, /chart\?\n\[image, image\/png, 12 kB\]\n\[file report\.pdf/);
});

test("what stands for a shortened image or file names it, and points only where it can be found", () => {
  const prompt = plainPrompt([{ seq: 3, message: asked! }], aiSdkShape);
  const replaced = (originals: typeof NOWHERE): string =>
    clampEntry(prompt.entries[0]!, 20, { shape: aiSdkShape, sizes: sizesOf(prompt), originals })
      .entries.map(({ replacement }) => replacement)
      .join("\n");
  assert.equal(
    replaced(RECALL),
    "[image, image/png, 12 kB; left out]\n[file report.pdf, application/pdf, 3 kB; left out]",
  );
  assert.match(replaced({ ...RECALL, folder: "history/" }), /12 kB; left out, history\/ has it\]/);
});

function aiSdkImage(part: object): ImagePart {
  return aiSdkShape.parts({ role: "user", content: [part] } as AiSdkMessage)[0] as ImagePart;
}

test("an image that is written anew keeps its name", () => {
  const named = aiSdkImage({ type: "file", mediaType: "image/png", data: "QUJD", filename: "chart.png" });
  const [written] = aiSdkShape.make("user", [named]);
  assert.deepEqual(aiSdkShape.parts(written!), [named]);
});
