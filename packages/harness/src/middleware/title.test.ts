import assert from "node:assert/strict";
import { test } from "node:test";
import { agentKit } from "../../test/agent/agent-kit.ts";
import { title } from "./basics.ts";

test("a thread is named after its first exchange, from the user's words, and keeps the name", async () => {
  const kit = agentKit(() => "ok", { middleware: [title({ maxCharacters: 40 })] });
  await kit.agent.generate({ threadId: "t", prompt: "Please look into the parser. It fails on Mondays." });
  await kit.agent.generate({ threadId: "t", prompt: "Something else" });
  assert.equal((await kit.agent.thread("t").state())["title"], "Please look into the parser");
  assert.equal(kit.of("title-set").length, 1);
  await kit.agent.generate({ threadId: "u", prompt: "word ".repeat(30) });
  assert.match(String((await kit.agent.thread("u").state())["title"]), /^(word )+word…$/);
});
