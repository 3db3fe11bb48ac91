import assert from "node:assert/strict";
import { test } from "node:test";
import type { ScriptedAnswer } from "@palimpsest/testing";
import { tool } from "ai";
import { z } from "zod/v4";
import { agentKit } from "../../test/agent/agent-kit.ts";
import { summarization } from "../compaction/middleware.ts";
import { threadNotes } from "../thread/chosen.ts";
import { contextTools } from "./context-tools.ts";

const LINES = "src/cart.ts line 7: total is not rounded, so the discount is lost. ".repeat(60);
const look = tool({ description: "Look.", inputSchema: z.object({ at: z.number() }), execute: () => LINES });

function call(name: string, input: object): ScriptedAnswer {
  return { calls: [{ name, input }] };
}

function kitWith(script: readonly (ScriptedAnswer | string)[]) {
  const middleware = [summarization({ summarizer: null, style: "rollover" }), contextTools()];
  return agentKit(script, { window: 100_000, middleware, tools: { look } });
}

test("notes outlive a fresh window, the request stays, and the tools' results stand in the log", async () => {
  const kit = kitWith([
    call("look", { at: 1 }),
    call("notes", { act: "write", name: "plan", text: "Round the total in src/cart.ts.", revision: 0 }),
    call("new_context", {}),
    call("notes", { act: "write", name: "plan", text: "Mine.", revision: 0 }),
    call("context_remaining", {}),
    "Done.",
  ]);
  await kit.agent.generate({ threadId: "t", prompt: "Find why the discount is lost." });
  const after = JSON.stringify(kit.model.calls[3]?.prompt);
  assert.match(after, /## Your notes.*Round the total in src\/cart\.ts/s);
  assert.match(after, /Find why the discount is lost/);
  assert.equal(after.split("total is not rounded").length, 1, "the output of the old window is hidden");
  const said = JSON.stringify(await kit.said());
  assert.match(said, /Refused, nothing changed: note plan is at revision 1, not 0/);
  assert.match(said, /tokens are used/);
  assert.ok(said.includes("total is not rounded"));
});

test("a model that asks for a fresh window in every step is stopped, and told so", async () => {
  const kit = kitWith([
    call("look", { at: 1 }),
    call("new_context", {}),
    call("new_context", {}),
    call("new_context", {}),
    "Done.",
  ]);
  await kit.agent.generate({ threadId: "t", prompt: "Look at it." });
  const said = JSON.stringify(await kit.said());
  assert.equal(said.split("A fresh window starts").length - 1, 1);
  assert.equal(said.split("At most one in 3 steps").length - 1, 2);
});

test("a finished stretch is folded into its report, and undo brings it back", async () => {
  const kit = kitWith([
    call("checkpoint", { name: "search" }),
    call("look", { at: 1 }),
    call("look", { at: 2 }),
    call("fold", { name: "search", report: "Line 7 of src/cart.ts loses the discount." }),
    call("fold", { name: "nothing", report: "x" }),
    "It is line 7.",
  ]);
  await kit.agent.generate({ threadId: "t", prompt: "Where is it?" });
  const after = JSON.stringify(kit.model.calls[4]?.prompt);
  assert.match(after, /are folded.*Line 7 of src\/cart\.ts loses the discount/s);
  assert.doesNotMatch(after, /total is not rounded/);
  assert.match(JSON.stringify(await kit.said()), /there is no checkpoint nothing/);
  assert.equal((await kit.agent.thread("t").undo()).kind, "undone");
  const view = await kit.agent.thread("t").context();
  assert.ok(view.kind !== "missing");
});

test("two notes that one answer writes both stand, and two writes of one note don't lose each other", async () => {
  const write = (name: string, text: string) => ({ name: "notes", input: { act: "write", name, text, revision: 0 } });
  const kit = kitWith([
    { calls: [write("plan", "Round it."), write("files", "src/cart.ts"), write("plan", "Other words.")] },
    "Done.",
  ]);
  await kit.agent.generate({ threadId: "t", prompt: "Look at it." });
  const said = JSON.stringify(await kit.said());
  assert.match(said, /Note plan is at revision 1/);
  assert.match(said, /Note files is at revision 1/);
  assert.match(said, /Refused, nothing changed: note plan is at revision 1, not 0/);
  assert.deepEqual(
    (await threadNotes({ store: kit.store }, "t"))?.map(({ name, text }) => `${name}: ${text}`),
    ["plan: Round it.", "files: src/cart.ts"],
  );
});
