// Rules of users and agents at /v1: copied into the thread's log, and in the prompt word for word once something is hidden.
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readRules } from "@palimpsest/core/internal/log";
import { shapeOf } from "@palimpsest/core/internal/message";
import { openThread, threadPrompt, verify } from "palimpsest/session";
import { ask, CHAT, MESSAGES, RESPONSES, talk, user } from "../../test/asking.ts";
import { type BeforeProvider, beforeProvider } from "../../test/before-provider.ts";

const AGENT = "Never push to main.";
const MINE = "Answer in German.";
const RULES = `rules: {agent: ["${AGENT}"], users: {default: ["${MINE}"], ada: ["Call me Ada."]}}\nmemory: {enabled: false}\n`;
const respond = ({ index }: { readonly index: number }) => `Answer ${index}: ${"seven fathoms. ".repeat(12)}`;

async function rulesOf({ home }: BeforeProvider, id: string) {
  assert.equal((await verify(home, id)).kind, "whole");
  return readRules((await home.store.head(id))!.state).list.map(({ text, scope, status }) => [text, scope, status]);
}

for (const path of [CHAT, MESSAGES, RESPONSES])
  test(`${path}: rules of the agent and the user stand in the log at once, and in the prompt behind a compaction`, async (t) => {
    const served = await beforeProvider(t, { window: 4000, respond, config: RULES });
    const { heard } = await talk(served.url, 16, { path });
    const id = heard.at(-1)!.header("thread")!;
    assert.deepEqual(await rulesOf(served, id), [
      [AGENT, "agent", "active"],
      [MINE, "user", "active"],
    ]);
    const sent = served.provider.requests.map(({ body }) => JSON.stringify(body));
    assert.doesNotMatch(sent[0]!, /Never push/, "the client's bytes pass until something is hidden");
    const compacted = heard.findIndex((one) => one.header("view") === "compacted");
    assert.ok(compacted > 0);
    for (const body of sent.slice(compacted)) {
      assert.ok(body.includes(AGENT) && body.includes(MINE));
      assert.ok(!body.includes("Call me Ada."));
    }
    const shown = await threadPrompt(served.home.store, id, { window: 4000 });
    assert.ok(shown.kind === "prompt" && (shown.breakdown.parts.rules ?? 0) > 0, "the window names them rules");
  });

test("rules of files in the home hold at /v1, are read anew with each request, and end when their file is gone", async (t) => {
  const served = await beforeProvider(t, { config: "rules: {files: [AGENTS.md]}\n", respond: () => "ok" });
  const path = join(served.home.directory, "AGENTS.md");
  const asked = async (text: string) => {
    const answer = await ask(served.url, [user(text)], { headers: { "x-palimpsest-thread": "files" } });
    return rulesOf(served, answer.header("thread")!);
  };
  writeFileSync(path, `# Shop\n\n- ${AGENT}\n`);
  assert.deepEqual(await asked("one"), [[AGENT, "file", "active"]]);
  rmSync(path);
  assert.deepEqual(await asked("two"), [[AGENT, "file", "ended"]]);
});

test("a rule that left the configuration ends in the thread when it goes on", async (t) => {
  const served = await beforeProvider(t, { respond: () => "ok" });
  const { store } = served.home;
  const standingRules = { agent: [AGENT], user: [MINE] };
  const opened = await openThread({ store, id: "older", shape: shapeOf("openai"), window: 8000, standingRules });
  assert.ok(opened.kind === "open");
  await opened.thread.close();
  const answer = await ask(served.url, [user("and now?")], { headers: { "x-palimpsest-thread": "older" } });
  assert.equal(answer.header("thread"), "older");
  assert.deepEqual(await rulesOf(served, "older"), [
    [AGENT, "agent", "ended"],
    [MINE, "user", "ended"],
  ]);
});
