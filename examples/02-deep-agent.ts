// An agent with a tool of yours. `offlineModel()` needs no key; any AI SDK model takes its place, for example
// `openai("gpt-5")` from "@ai-sdk/openai".
import { tool } from "ai";
import { createDeepAgent } from "palimpsest";
import { offlineModel } from "palimpsest/models";
import { z } from "zod";

const agent = createDeepAgent({
  model: offlineModel(),
  tools: {
    read_file: tool({
      description: "Reads one of the harbour's papers.",
      inputSchema: z.object({ path: z.string() }),
      execute: ({ path }) => `${path}: high water at 06:40, low water at 12:55`,
    }),
  },
});

const stream = agent.stream({ threadId: "harbour", prompt: "read tides.txt" });
for await (const event of stream) {
  if (event.type === "tool-end") console.log(`[${event.name} in ${Math.round(event.ms)} ms]`);
  if (event.type === "text-delta") process.stdout.write(event.text);
}
console.log("\n", await stream.result.then(({ steps, usage }) => ({ steps, tokens: usage.input })));
await agent.close();
