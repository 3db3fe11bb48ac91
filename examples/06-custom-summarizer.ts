// Who writes the summaries is a function: any model, any service, or plain code as here. What it answers is checked; if
// it fails, answers nothing or doesn't shrink, the built-in extract takes over and nothing is lost.
import { createDeepAgent } from "palimpsest";
import { createModelWriter, summarizeBy } from "palimpsest/messages";
import { offlineModel } from "palimpsest/models";

const summarizer = createModelWriter({
  summarize: summarizeBy((prompt) => {
    const hauls = new Map([...prompt.matchAll(/Haul (\d+): we caught (\d+)/g)].map(([, haul, count]) => [haul, count]));
    const best = Math.max(...[...hauls.values()].map(Number));
    return `Fishing log: ${hauls.size} hauls so far, ${best} herring in the best of them.`;
  }),
  summaryPrompt: "Summarize the fishing:\n{messages}",
  window: 32_000,
});

const agent = createDeepAgent({ model: offlineModel(), window: 6_000, summarizer });
for (let haul = 1; haul <= 20; haul++)
  await agent.generate({ threadId: "nets", prompt: `Haul ${haul}: we caught ${(haul * 37) % 90} herring.` });
const outcome = await agent.compact("nets");
const [summary] = await agent.thread("nets").view();
console.log(outcome.kind === "compacted" ? outcome.rung : outcome.reason);
console.log(JSON.stringify(summary).match(/Fishing log: [^."]+/)?.[0]);
await agent.close();
