// Where nobody says `keep`, every way in keeps the same: whole turns, newest first, as far as they fit under the low-water mark.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { scriptedModel } from "@palimpsest/testing";
import { summarizationForThreads, summarizationFromOptions } from "../compaction/summarization.ts";
import { createDeepAgent } from "../home/create-deep-agent.ts";
import { configSchema } from "../home/schema.ts";
import { openSqlite } from "../stores/sqlite.ts";
import { appendMessages, withWriter } from "../thread/acts.ts";
import { openThread } from "../thread/open-thread.ts";
import { createThread, threadDeps } from "../thread/writer.ts";
import { compactMessages } from "./compact-messages.ts";

const WINDOW = 8000;
const FACTS = "The parser reads one token at a time and keeps a stack of what is open. ".repeat(12);
/** Over the trigger of the window. */
const SAID: readonly OpenAiMessage[] = Array.from({ length: 50 }, (_, turn): OpenAiMessage[] => [
  { role: "user", content: `Question ${turn}: what about part ${turn}?` },
  { role: "assistant", content: `Answer ${turn}: ${FACTS}` },
]).flat();

/** How many of the last messages a request holds as they were said. */
function kept(request: string): number {
  const isThere = ({ content }: OpenAiMessage): boolean => request.includes(JSON.stringify(content).slice(1, -1));
  return SAID.length - (SAID.findLastIndex((message) => !isThere(message)) + 1);
}

const PLACES: Readonly<Record<string, () => Promise<number>>> = {
  async openThread() {
    const store = openSqlite({ path: ":memory:" });
    const opened = await openThread<OpenAiMessage>({ store, id: "t", shape: openaiShape, window: WINDOW });
    assert.ok(opened.kind === "open");
    await opened.thread.append([...SAID]);
    const { messages } = await opened.thread.prompt();
    await opened.thread.close();
    await store.close();
    return kept(JSON.stringify(messages));
  },
  async compactMessages() {
    const { messages } = await compactMessages([...SAID], { dialect: "openai", window: WINDOW });
    return kept(JSON.stringify(messages));
  },
  async createDeepAgent() {
    const store = openSqlite({ path: ":memory:" });
    const deps = threadDeps(store);
    await createThread(deps, { id: "t" });
    const said = SAID.map((body) => ({ dialect: "openai" as const, origin: "import" as const, body }));
    await withWriter(deps, "t", (writer) => appendMessages(writer, said));
    const model = scriptedModel(() => "Noted.");
    const agent = createDeepAgent({ store, model, window: WINDOW, summarizer: null, title: false, subagents: false });
    await agent.generate({ threadId: "t", prompt: "Go on." });
    const request = JSON.stringify(model.calls[0]!.prompt);
    await agent.close();
    await store.close();
    return kept(request);
  },
};

for (const [name, place] of Object.entries(PLACES))
  test(`${name} keeps what fits where nobody says keep, not six messages and not twenty`, async () => {
    const messages = await place();
    assert.ok(messages > 6 && messages < SAID.length, `${messages} messages`);
    assert.notEqual(messages, 20);
  });

test("`compact` and `/v1` take the same policy from a configuration that says nothing, and the letter of one that does", () => {
  const { policy } = summarizationFromOptions();
  const empty = summarizationForThreads(configSchema.parse({}).summarization).policy;
  assert.deepEqual([empty.trigger, empty.keep, empty.lowWater], [policy.trigger, null, policy.lowWater]);
  const keep = [
    { type: "messages", value: 6 },
    { type: "fraction", value: 0.25 },
  ] as const;
  const trigger = { type: "fraction", value: 0.85 };
  const said = (summarization: object) =>
    summarizationForThreads(configSchema.parse({ summarization: { enabled: true, ...summarization } }).summarization);
  assert.deepEqual(said({ trigger, keep: [...keep] }).policy.keep, keep);
  assert.deepEqual(said({ trigger }).policy.keep, { type: "messages", value: 20 }, "config.yaml keeps 20 messages");
  assert.deepEqual(summarizationFromOptions({ keepRecentMessages: 6 }).policy.keep, keep);
});
