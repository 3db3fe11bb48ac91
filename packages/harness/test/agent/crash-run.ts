/** A process that starts a run whose tool never returns, and says when it is inside the tool: made to be killed. */

import { scriptedModel } from "@palimpsest/testing";
import { tool } from "ai";
import { z } from "zod";
import { createDeepAgent } from "../../src/home/create-deep-agent.ts";
import { openSqlite } from "../../src/stores/sqlite.ts";

const [path = "", threadId = ""] = process.argv.slice(2);
const hang = tool({
  inputSchema: z.object({ n: z.number() }),
  execute: ({ n }) => {
    if (n === 1) return "one is done";
    process.stdout.write("in the tool\n");
    return new Promise<string>(() => setInterval(() => {}, 1000));
  },
});
const model = scriptedModel([
  { text: "Working on it.", calls: [{ name: "hang", input: { n: 1 } }] },
  {
    text: "Now the hard part.",
    calls: [
      { name: "hang", input: { n: 1 } },
      { name: "hang", input: { n: 2 } },
    ],
  },
]);
const agent = createDeepAgent({ model, store: openSqlite({ path }), tools: { hang } });
await agent.generate({ threadId, prompt: "Do the long thing." });
