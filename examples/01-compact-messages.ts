// Your own loop, your own array of OpenAI messages: keep all of it, send what fits. No store, no model, no key.
import { compactMessages, createMessageCompactor, type MessagesState, StateMismatchError } from "palimpsest/messages";

interface Message {
  role: "user" | "assistant";
  content: string;
}

const said: Message[] = [];
// Plain JSON; keep it beside the messages, and the prompt stays the same until the next compaction.
let state: MessagesState | undefined;

for (let turn = 1; turn <= 150; turn++) {
  said.push({ role: "user", content: `Question ${turn}: how deep is the water at buoy ${turn}?` });
  const { messages, outcome, ...rest } = await compactMessages(said, { window: 4_000, state });
  state = rest.state;
  if (outcome.kind === "compacted")
    console.log(`turn ${turn}: ${outcome.tokensBefore} -> ${outcome.tokensAfter} tokens`);
  said.push(await askYourModel(messages));
}
console.log(`${said.length} messages kept, each prompt within 4000 tokens`);

// Another chat with this state is told apart; its question is never hidden behind a summary of something else.
const other: Message[] = [{ role: "user", content: "What is the capital of France?" }];
await compactMessages(other, { window: 4_000, state }).catch((error: unknown) => {
  if (StateMismatchError.isInstance(error)) console.log(`refused: ${error.code}`);
});

// The same with an object that keeps the state, takes the provider's reports and finds what is hidden.
const compactor = createMessageCompactor<Message>({ window: 4_000, state });
const { tokens } = await compactor.prompt(said);
compactor.report({ input: tokens, output: 40 });
const found = await compactor.search("buoy 7");
if (found.kind === "found") for (const { place } of found.hits.slice(0, 1)) console.log(`message ${place}: buoy 7`);

async function askYourModel(messages: readonly Message[]): Promise<Message> {
  const depth = 3 + (messages.length % 7);
  return { role: "assistant", content: `It is ${depth} fathoms there at low water, sand and shell. `.repeat(3) };
}
