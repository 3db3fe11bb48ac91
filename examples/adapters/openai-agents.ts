// The OpenAI Agents SDK with a session that never forgets: the runner gets what fits the model's window, the log keeps
// everything, and to pop or to clear is to go on in another thread. The model here is the SDK's scripted one.
import { Agent, Runner, tool } from "@openai/agents-core";
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents-core/testing";
import { PalimpsestSession } from "@palimpsest/openai-agents";
import { openSqlite } from "palimpsest/stores";
import { z } from "zod";

const store = openSqlite({ path: ":memory:" });
const session = new PalimpsestSession({ store, sessionId: "voyage", window: 4_000, model: "gpt-5" });

const sound = tool({
  name: "sound",
  description: "Sounds the depth at a buoy.",
  parameters: z.object({ buoy: z.number() }),
  execute: ({ buoy }) => `buoy ${buoy}: ${"four fathoms, sand and shell. ".repeat(30)}`,
});

const turns = 40;
const model = new ScriptedModel(Array.from({ length: 2 * turns }, () => modelResponder(answer)));
const agent = new Agent({ name: "pilot", instructions: "Answer from the soundings.", tools: [sound], model });
const runner = new Runner({ tracingDisabled: true });

for (let turn = 1; turn <= turns; turn++) await runner.run(agent, `How deep is it at buoy ${turn}?`, { session });

const shown = await session.getItems();
console.log(`${(await session.history()).length} items said, ${shown.length} shown to the model`);
await session.popItem(); // the last answer
console.log(
  `popped in ${(await session.threads()).at(-1)}; ${(await session.search("buoy 3")).kind} what was said first`,
);
await store.close();

function answer({ index }: { index: number }) {
  const callId = `call-${index}`;
  return index % 2 === 0
    ? [functionCall("sound", { buoy: index / 2 }, { callId })]
    : [assistantMessage("Four fathoms.")];
}
