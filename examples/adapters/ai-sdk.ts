// The AI SDK's own loop on a thread: `generateText` runs the model and the tools as ever, each step sends what fits the
// window, and the log keeps every word. The model here is a scripted one; yours goes in its place.
import { scriptedModel } from "@palimpsest/testing";
import { generateText, isStepCount, jsonSchema, tool, wrapLanguageModel } from "ai";
import { compactionMiddleware, threadSettings } from "palimpsest/ai-sdk";
import { openSqlite } from "palimpsest/stores";

const store = openSqlite({ path: ":memory:" });
const scripted = scriptedModel(({ index }) => (index % 2 === 0 ? { calls: [CALL] } : "Four fathoms. Yes."));
// Beside the thread, a net: a prompt that the provider finds too long all the same is asked again, shorter.
const model = wrapLanguageModel({ model: scripted, middleware: compactionMiddleware({ window: 4_000 }) });
const sound = tool({
  description: "Sounds the depth where the ship lies.",
  inputSchema: jsonSchema<Record<string, never>>({ type: "object", properties: {} }),
  execute: () => "four fathoms, sand and shell. ".repeat(30),
});
const CALL = { name: "sound", input: {} };

for (let turn = 1; turn <= 40; turn++) {
  // The same request again, after a crash, says nothing twice and goes on from the last whole step.
  const thread = threadSettings({
    store,
    threadId: "voyage",
    requestId: `turn${turn}`,
    window: 4_000,
    tools: { sound },
  });
  await generateText({
    model,
    prompt: `Turn ${turn}: how deep is it here, and may we anchor?`, // only what is new: the thread has the rest
    tools: { sound },
    stopWhen: isStepCount(5),
    ...thread.settings, // prepareStep, onLanguageModelCallEnd, onStepEnd, onChunk, onAbort
  });
  await thread.close();
}
const head = await store.head("voyage");
console.log(`${head?.messages} messages in the log, ${scripted.calls.at(-1)?.prompt.length} shown to the model`);
await store.close();
