// A server that remembers its users: one call, whatever their ids, learned behind the turns while it runs.

import { scriptedModel } from "@palimpsest/testing";
import { createDeepAgent, createMemory } from "palimpsest";
import { openStore } from "palimpsest/stores";

// Take models of yours here, such as openai("gpt-5") from @ai-sdk/openai; a small one does for memory.
const small = scriptedModel([
  '{"additions": [{"content": "User prefers short answers.", "confidence": 0.9, "quote": "I prefer short answers"}]}',
]);
const model = scriptedModel(["Noted.", "Yes."]);

const store = await openStore(":memory:");
const memory = createMemory({ store, model: small });
const agent = createDeepAgent({ store, model, memory, window: 50_000 });

const userId = "auth0|4711";
await agent.generate({ threadId: "monday", userId, prompt: "I prefer short answers, please." });
// It learns half a minute after the last word; closing learns what is still to be learned.
await agent.close();
await memory.close();
for (const { content } of (await memory.service.show({ userId })).facts) console.log(content);
await store.close();
