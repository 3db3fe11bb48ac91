// Search in messages of your own, without a store: neighbors share their words, so that an answer is found by the words
// of its question. Pure, in memory, no model; a store keeps the same index on disk.
import { createMessageCompactor } from "palimpsest/messages";

const said = [
  { role: "user", content: "Where did we moor the Marigold?" },
  { role: "assistant", content: "At pier 7, behind the fish market." },
  { role: "user", content: "And what does the harbor master charge?" },
  { role: "assistant", content: "Twelve crowns a night, paid in the morning." },
];

const compactor = createMessageCompactor<(typeof said)[number]>({ window: 8_000 });
await compactor.prompt(said);
const found = await compactor.search("Marigold moored", { limit: 2 });
if (found.kind === "found")
  for (const { place, message } of found.hits) console.log(`#${place} ${message.role}: ${message.content}`);
