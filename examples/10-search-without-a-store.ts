// The engine's search over messages of your own: BM25 in which neighbors share their words, so that an answer is found
// by the words of its question. Pure, in memory; a store keeps the same index on disk.
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/message";
import { createSnippets, indexableText, indexEntry, MemoryIndex, search } from "@palimpsest/core/recall";

const said = [
  "Where did we moor the Marigold?",
  "At pier 7, behind the fish market.",
  "And what does the harbor master charge?",
  "Twelve crowns a night, paid in the morning.",
];

const index = new MemoryIndex();
for (const [place, content] of said.entries()) {
  const origin = place % 2 === 0 ? "user" : "model";
  const message: OpenAiMessage = { role: origin === "user" ? "user" : "assistant", content };
  const text = indexableText(message, openaiShape, { origin });
  const at = new Date(place * 60_000).toISOString();
  if (text !== null) index.put({ threadId: "harbor", seq: place }, indexEntry({ ...text, at }));
}

const question = "Marigold moored";
const result = await search(index, { kind: "thread", threadId: "harbor" }, question, { limit: 2 });
const snippet = createSnippets(question);
for (const { doc } of result.kind === "found" ? result.hits : [])
  console.log(`#${doc.seq} ${doc.speaker}: ${snippet(said[doc.seq]!).text}`);
