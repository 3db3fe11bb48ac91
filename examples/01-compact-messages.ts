// Your own loop, your own array of OpenAI messages: keep all of it, send what fits. No store, no model, no key.
import { type CompactedMessages, compactMessages, type MessagesState } from "palimpsest/messages";

interface Message {
  role: "user" | "assistant";
  content: string;
}

const said: Message[] = [];
// Plain JSON; keep it beside the messages, and the prompt stays the same until the next compaction.
let state: MessagesState | null = null;

for (let turn = 1; turn <= 150; turn++) {
  said.push({ role: "user", content: `Question ${turn}: how deep is the water at buoy ${turn}?` });
  const prompt: CompactedMessages<Message> = await compactMessages(said, { window: 4_000, state });
  state = prompt.state;
  const { outcome } = prompt;
  if (outcome.kind === "compacted")
    console.log(`turn ${turn}: ${outcome.tokensBefore} -> ${outcome.tokensAfter} tokens`);
  said.push(await askYourModel(prompt.messages));
}
console.log(`${said.length} messages kept, each prompt within 4000 tokens`);

async function askYourModel(messages: readonly Message[]): Promise<Message> {
  const depth = 3 + (messages.length % 7);
  return { role: "assistant", content: `It is ${depth} fathoms there at low water, sand and shell. `.repeat(3) };
}
