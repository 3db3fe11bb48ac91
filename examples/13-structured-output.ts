// An answer as data: the last answer of a run is read by a schema, typed, and sent back once when it doesn't fit.

import { scriptedModel } from "@palimpsest/testing";
import { tool } from "ai";
import { createAgent } from "palimpsest";
import { z } from "zod";

const tides = tool({
  description: "Looks up the tides of a harbor.",
  inputSchema: z.object({ harbor: z.string() }),
  execute: ({ harbor }) => `${harbor}: high water at 06:40, 3.1 m`,
});
// Stands for a real model, which would be asked the same way.
const model = scriptedModel([
  { calls: [{ name: "tides", input: { harbor: "Oslo" } }] },
  "High water is at 06:40.",
  '{"harbor":"Oslo","highWater":"06:40","meters":3.1}',
]);
const agent = createAgent({ model, tools: { tides } });
const output = z.object({ harbor: z.string(), highWater: z.string(), meters: z.number() });

const stream = agent.stream({ threadId: "t", prompt: "When is high water in Oslo?", output });
for await (const event of stream) if (event.type === "output-repair") console.log("asked once more");
const result = await stream.result;
// `result.output` has the schema's type; null when the run did not end with an answer.
console.log(`${result.output?.harbor}: ${result.output?.meters.toFixed(1)} meters`);
await agent.close();
