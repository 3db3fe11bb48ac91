// LangChain's agent with palimpsest as a middleware: the model is shown what fits its window, the graph's state stays
// whole, and `recall` finds what a summary has replaced. The model here is a fake; yours goes in its place.
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { palimpsestMiddleware } from "@palimpsest/langchain";
import { createAgent, fakeModel, tool } from "langchain";
import { openSqlite } from "palimpsest/stores";

const store = openSqlite({ path: ":memory:" });
const sound = tool(() => "four fathoms, sand and shell. ".repeat(30), {
  name: "sound",
  description: "Sounds the depth where the ship lies.",
  schema: { type: "object", additionalProperties: true, properties: {} },
});

const turns = 40;
const shown: number[] = [];
const model = fakeModel();
for (let step = 0; step < 2 * turns; step++) model.respond((messages) => answer(messages, step));

const agent = createAgent({
  model,
  tools: [sound],
  checkpointer: new MemorySaver(),
  middleware: [palimpsestMiddleware({ store, window: 4_000 })], // first in the list: others then see what is shown
});
const config = { configurable: { thread_id: "voyage" } };
let state: BaseMessage[] = [];
for (let turn = 1; turn <= turns; turn++)
  state = (await agent.invoke({ messages: `Turn ${turn}: how deep is it here, and may we anchor?` }, config)).messages;

console.log(`${state.length} messages in the state, ${shown.at(-1)} shown to the model`);
await store.close();

function answer(messages: readonly BaseMessage[], step: number): AIMessage {
  shown.push(messages.length);
  const call = { name: "sound", args: {}, id: `call-${step}`, type: "tool_call" as const };
  return step % 2 === 0 ? new AIMessage({ content: "", tool_calls: [call] }) : new AIMessage("Four fathoms. Yes.");
}
