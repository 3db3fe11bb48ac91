import assert from "node:assert/strict";
import { test } from "node:test";
import { agentKit } from "../../test/agent/agent-kit.ts";
import { compactTool, summarization } from "./middleware.ts";

const WORDS = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(12);

test("a plain agent compacts automatically once summarization is among its middleware", async () => {
  const kit = agentKit(() => WORDS, {
    window: 100_000,
    middleware: [
      summarization({
        summarizer: null,
        trigger: { type: "messages", value: 10 },
        keep: { type: "messages", value: 4 },
      }),
      compactTool(),
    ],
  });
  for (let turn = 0; turn < 8; turn++)
    await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
  const outcome = kit.of("compaction-end").find((event) => event.outcome.kind === "compacted")?.outcome;
  assert.ok(outcome?.kind === "compacted" && outcome.tokensAfter < outcome.tokensBefore);
});
