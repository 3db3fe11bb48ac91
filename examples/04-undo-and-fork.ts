// A compaction is one more record in the log: it can be taken back, and any past can have a second future.
import { createDeepAgent } from "palimpsest";
import { offlineModel } from "palimpsest/models";

const agent = createDeepAgent({ model: offlineModel() });
for (let day = 1; day <= 12; day++)
  await agent.generate({ threadId: "log", prompt: `Day ${day}: wind ${day % 8}, all sails set, nothing in sight.` });

const thread = agent.thread("log");
const outcome = await agent.compact("log", { focus: "the wind" });
console.log(`compacted: ${outcome.kind}, ${(await thread.view()).length} messages in the prompt`);
await thread.undo();
console.log(`undone: ${(await thread.view()).length} messages in the prompt`);
await thread.redo();

await thread.fork({ as: "log-south", at: 5 });
await agent.generate({ threadId: "log-south", prompt: "Day 2 again: this time we turn south." });
for (const id of ["log", "log-south"]) {
  let messages = 0;
  for await (const _ of agent.thread(id).replay()) messages++;
  console.log(`${id}: ${messages} messages ever said`);
}
await agent.close();
