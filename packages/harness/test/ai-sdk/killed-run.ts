/** A process that runs the AI SDK's own loop on a thread, and hangs in its third tool call: made to be killed. */

import { scriptedModel } from "@palimpsest/testing";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { threadSettings } from "../../src/ai-sdk/steps.ts";
import { openSqlite } from "../../src/stores/sqlite.ts";

const [path = ""] = process.argv.slice(2);
const sound = tool({
  inputSchema: jsonSchema<{ buoy: number }>({ type: "object", properties: { buoy: { type: "number" } } }),
  execute: ({ buoy }) => {
    if (buoy < 2) return `four fathoms at buoy ${buoy}`;
    process.stdout.write("in the tool\n");
    return new Promise<string>(() => setInterval(() => {}, 1000));
  },
});
const { settings } = threadSettings({
  store: openSqlite({ path }),
  threadId: "voyage",
  requestId: "request-1",
  window: 8_000,
});
await generateText({
  model: scriptedModel(({ index }) => ({ calls: [{ name: "sound", input: { buoy: index } }] })),
  prompt: "How deep is it?",
  tools: { sound },
  stopWhen: stepCountIs(10),
  ...settings,
});
