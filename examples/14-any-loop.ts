// Any loop: your own client and your own messages (here OpenAI's), on a thread that outlives the process. Say what
// happened, send what comes back, report what it counted, and recover when the provider finds it too long.
import { type OpenAiMessage, shapeOf } from "@palimpsest/core";
import { openThread } from "palimpsest/session";
import { openSqlite } from "palimpsest/stores";

const store = openSqlite({ path: ":memory:" });
const opened = await openThread({ store, id: "log", shape: shapeOf("openai"), window: 4_000, model: "gpt-5" });
if (opened.kind !== "open") throw new Error(`the thread can't be had: ${opened.kind}`);
const { thread } = opened;
let compactions = 0;

for (let turn = 1; turn <= 60; turn++) {
  const content = `Question ${turn}: how deep is the water at buoy ${turn}? ${"It matters. ".repeat(20)}`;
  // Given again after a crash, a message under the same id is passed over.
  await thread.append([{ id: `question-${turn}`, message: { role: "user", content } }]);
  for (;;) {
    const { messages, outcome } = await thread.prompt();
    if (outcome?.kind === "compacted") compactions += 1;
    try {
      const { choices, usage } = await askYourModel(messages);
      await thread.append([choices[0].message]);
      await thread.report(usage);
      break;
    } catch (error) {
      if (!(await thread.recover(error))) throw error;
    }
  }
}
const found = await thread.search("buoy 3");
console.log(`${compactions > 0 ? "compacted" : "whole"}, ${found.kind}: everything ever said is still there`);
await store.close();

async function askYourModel(messages: readonly OpenAiMessage[]) {
  const message: OpenAiMessage = { role: "assistant", content: "Four fathoms at low water, sand and shell." };
  const usage = { prompt_tokens: Math.ceil(JSON.stringify(messages).length / 5), completion_tokens: 12 };
  return { choices: [{ message }] as const, usage };
}
