// The model's own tools in a loop that is not our agent: an open thread, OpenAI's messages, no model behind it.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type OpenAiMessage, shapeOf } from "@palimpsest/core/internal/message";
import { collect } from "@palimpsest/testing/internal/kit";
import { openSqlite } from "../stores/sqlite.ts";
import { openThread } from "./open-thread.ts";
import { redact } from "./redact.ts";
import { type ThreadTool, threadTools } from "./thread-tools.ts";
import { sha256 } from "./writer.ts";

const WINDOW = 20_000;
const LINES = "src/cart.ts line 7: total is not rounded, so the discount is lost. ".repeat(40);

async function opened(t: TestContext) {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const result = await openThread({ store, id: "t", shape: shapeOf("openai"), window: WINDOW });
  assert.ok(result.kind === "open");
  const { thread } = result;
  const context = threadTools(thread, { window: WINDOW });
  let calls = 0;
  /** One step of a loop: the answer with its call goes into the log, then the tool runs, then its result. */
  const use = async (name: ThreadTool["name"] | "look", input: object = {}): Promise<string> => {
    await context.prompt();
    calls += 1;
    const id = `c${calls}`;
    const call = { id, type: "function" as const, function: { name, arguments: JSON.stringify(input) } };
    await thread.append([{ role: "assistant", content: null, tool_calls: [call] }]);
    const tool = context.tools.find((one) => one.name === name);
    const content = tool === undefined ? LINES : await tool.execute(input);
    await thread.append([{ role: "tool", tool_call_id: id, content }]);
    return content;
  };
  const text = async (): Promise<string> => JSON.stringify((await context.prompt()).messages);
  const say = (content: string) => thread.append([{ role: "user", content } satisfies OpenAiMessage]);
  return { store, thread, context, use, text, say };
}

test("notes outlive a fresh window that any loop starts, and undo brings the old window back", async (t) => {
  const { thread, use, text, say } = await opened(t);
  await say("Fix the discount. Never push to main.");
  for (let step = 0; step < 3; step += 1) await use("look");
  assert.match(await use("notes", { act: "write", name: "plan", text: "Round the total." }), /revision 1/);
  assert.match(await use("context_remaining"), /^\d+ of 20000 tokens are used, \d+ are left\.$/);
  const before = await text();
  assert.match(await use("new_context"), /fresh window starts/);
  const fresh = await text();
  assert.ok(fresh.length < before.length / 2);
  for (const words of ["Round the total.", "- Never push to main.", "Fix the discount."])
    assert.ok(fresh.includes(words), words);
  await thread.undo();
  assert.ok((await text()).length >= before.length);
});

test("a fresh window that would hide nothing is refused instead of announced", async (t) => {
  const { thread, use, say, text } = await opened(t);
  await say("Go on.");
  const before = await text();
  assert.match(await use("new_context"), /Refused: a fresh window would hide nothing now/);
  assert.ok((await text()).startsWith(before.slice(0, -1)), "nothing changed");
  assert.equal((await thread.changes()).hidden, false);
});

test("a model that asks for a fresh window in every step is stopped, and told so", async (t) => {
  const { use, say } = await opened(t);
  await say("Go on.");
  for (let step = 0; step < 3; step += 1) await use("look");
  assert.match(await use("new_context"), /fresh window starts/);
  assert.match(await use("new_context"), /Refused: a fresh window was started one step ago/);
});

test("a finished stretch is folded into its report; pairs stay whole", async (t) => {
  const { use, text, say } = await opened(t);
  await say("Find the bug.");
  assert.match(await use("checkpoint", { name: "hunt" }), /is set/);
  for (let step = 0; step < 3; step += 1) await use("look");
  assert.match(await use("fold", { name: "hunt", report: "The total is not rounded." }), /are folded/);
  const prompt = await text();
  assert.ok(prompt.includes("The total is not rounded.") && !prompt.includes("so the discount is lost"));
});

test("over turns the finished part is folded: what stands before the current request, and a rule stated in it stays", async (t) => {
  const { thread, use, text, say } = await opened(t);
  await say("Find the bug.");
  await use("checkpoint", { name: "hunt" });
  await use("look");
  await thread.append([{ role: "assistant", content: "Line 7." }]);
  await say("Look again. Never push to main.");
  await use("look");
  await thread.append([{ role: "assistant", content: "Still line 7." }]);
  await say("Now mend it.");
  assert.match(
    await use("fold", { name: "hunt", report: "It is line 7." }),
    /Messages 5 to \d+ are folded.*current request/,
  );
  const prompt = await text();
  for (const words of ["It is line 7.", "Now mend it.", "Find the bug.", "- Never push to main."])
    assert.ok(prompt.includes(words), words);
  assert.doesNotMatch(prompt, /so the discount is lost|Look again/);
  await say("And the tests?");
  assert.match(await use("fold", { name: "none", report: "x" }), /no checkpoint none/);
  await thread.close();
});

test("a checkpoint after which nothing was finished can't be folded, and the tool says so", async (t) => {
  const { thread, use, say } = await opened(t);
  await say("Find the bug.");
  await use("checkpoint", { name: "hunt" });
  assert.match(await use("fold", { name: "hunt", report: "Nothing yet." }), /Refused: nothing was done since/);
  await thread.close();
});

const REPORT = "The total in src/cart.ts is not rounded.\nTried and dropped: Math.floor, since it loses 0.005.";

for (const style of ["summary", "rollover"] as const)
  test(`a fold's report stands word for word in every later window (${style}), until what it stands for is redacted`, async (t) => {
    const { store, thread, use, text, say } = await opened(t);
    await say("Find the bug.");
    await use("checkpoint", { name: "hunt" });
    for (let step = 0; step < 3; step += 1) await use("look");
    assert.match(await use("fold", { name: "hunt", report: REPORT }), /are folded/);
    for (let round = 0; round < 3; round += 1) {
      await thread.append([{ role: "assistant", content: `Part ${round} is done.` }]);
      await say(`Go on with part ${round}.`);
      await use("look");
      await use("look");
      assert.equal((await thread.compact({ style })).kind, "compacted");
      const prompt = await text();
      for (const line of REPORT.split("\n")) assert.equal(prompt.split(`| ${line}`).length, 2, prompt);
      assert.match(prompt, /Messages \d+ to \d+ are folded/);
    }
    await thread.close();
    const deps = { store, clock: () => new Date(), ids: () => "redactor", hash: sha256 };
    const redacted = await redact(deps, "t", 6);
    assert.deepEqual(redacted.kind === "redacted" && redacted.summaries, { rebuilt: 3, erased: 0 });
    const kept = await collect(store.records("t", { kinds: ["compaction", "prune"] }));
    assert.doesNotMatch(JSON.stringify(kept), /Math\.floor/);
  });

test("bad input is answered with a sentence and changes nothing", async (t) => {
  const { thread, use, say } = await opened(t);
  await say("Hello.");
  await use("notes", { act: "write", name: "plan", text: "Mine." });
  const answers = [
    await use("fold", { name: "nowhere", report: "Done." }),
    await use("fold", { name: "nowhere" }),
    await use("notes", { act: "write", name: "plan", text: "Theirs." }),
    await use("notes", { act: "write" }),
    await use("notes", { act: "erase" }),
  ];
  for (const answer of answers) assert.match(answer, /^Refused/);
  assert.match(await use("notes", { act: "read" }), /### plan \(revision 1\)\nMine\./);
  await thread.close();
});
