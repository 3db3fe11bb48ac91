/** A process whose three children hang in a tool, and that says so when all do: made to be killed. */
import { tool } from "ai";
import { z } from "zod";
import { openSqlite } from "../../src/stores/sqlite.ts";
import { subagentKit, taskCall } from "./subagent-kit.ts";

const [path = ""] = process.argv.slice(2);
let inside = 0;
const hang = tool({
  inputSchema: z.object({}),
  execute: () => {
    if (++inside === 3) process.stdout.write("three hang\n");
    return new Promise<string>(() => setInterval(() => {}, 1000));
  },
});
const kit = subagentKit(
  {
    parent: [{ calls: [taskCall("a"), taskCall("b"), taskCall("c")] }],
    child: (prompt) => ({ text: `working on ${prompt}`, calls: [{ name: "hang", input: {} }] }),
  },
  { tools: { hang }, store: openSqlite({ path }) },
);
await kit.agent.generate({ threadId: "t", prompt: "do three things" });
