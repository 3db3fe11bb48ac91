// A person approves what a tool does: the run ends and says which calls wait, the thread keeps them, and a later run,
// in this process or in another, goes on from there.
import { tool } from "ai";
import { createAgent } from "palimpsest";
import { offlineModel } from "palimpsest/models";
import { z } from "zod";

const read_file = tool({
  description: "Reads a paper.",
  inputSchema: z.object({ path: z.string() }),
  needsApproval: ({ path }) => path.includes("private"),
  execute: ({ path }) => `${path}: nothing special`,
});
const agent = createAgent({ model: offlineModel(), tools: { read_file } });

const { end } = await agent.generate({ threadId: "t", prompt: "read letters/private.txt" });
if (end.kind !== "approval") throw new Error(`the run ended as ${end.kind}`);
for (const { id, name, input } of end.calls) {
  console.log(`may ${name} have ${JSON.stringify(input)}?`);
  await agent.thread("t").approve(id, "yes");
}
// Nothing new to say: the approved call is run, and the model reads its result.
console.log((await agent.generate({ threadId: "t" })).text);
await agent.close();
