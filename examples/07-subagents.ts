// A sub-agent reads the file in a thread of its own; the parent's conversation grows by one call and one bounded answer.
// The scripted model plays both parts without a key; any AI SDK model takes its place.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "@palimpsest/testing";
import { createDeepAgent, subagentLogLines, totalUsage } from "palimpsest";

const base = await mkdtemp(join(tmpdir(), "palimpsest-example-"));
const uploads = join(base, "threads/sales/uploads");
await mkdir(uploads, { recursive: true });
await writeFile(join(uploads, "data.csv"), "month,sales\n1,100\n2,105\n");

const read = { name: "read_file", input: { path: "/mnt/user-data/uploads/data.csv" } };
const task = { description: "Analyze data.csv", prompt: "Find the trend in /mnt/user-data/uploads/data.csv." };
const parent = [{ calls: [{ name: "task", input: task }] }, "The analysis shows 5% growth."];
const child = [{ calls: [read] }, { calls: [read] }, "5% growth trend observed"];
const model = scriptedModel(({ options }) => {
  const isParent = options.tools?.some(({ name }) => name === "task");
  return (isParent ? parent : child).shift() ?? "done";
});

const agent = createDeepAgent({
  model,
  files: { base },
  onEvent(event) {
    if (event.type === "subagent-start" || event.type === "subagent-step" || event.type === "subagent-end")
      for (const line of subagentLogLines(event)) console.log(line);
  },
});
console.log((await agent.generate({ threadId: "sales", prompt: "Analyze sales trends in data.csv" })).text);
console.log("messages in the parent's prompt:", (await agent.thread("sales").view()).length);
console.log("tokens of parent and child:", (await totalUsage(agent.store, "sales")).total.input);
await agent.close();
await rm(base, { recursive: true });
