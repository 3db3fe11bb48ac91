import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { addRule, endRule } from "@palimpsest/core/internal/log";
import { type OpenAiMessage, shapeOf } from "@palimpsest/core/internal/message";
import { freshThread } from "@palimpsest/testing/internal/kit";
import { openSqlite, type Store } from "../stores/index.ts";
import { appendMessages, appendUsage } from "./acts.ts";
import { verify } from "./audit.ts";
import { changeNote, changeRules, cutThread, showMessage, threadNotes, threadRules } from "./chosen.ts";
import { openThread } from "./open-thread.ts";
import { redact } from "./redact.ts";
import { sizedThread } from "./sized-thread.ts";
import type { Writer } from "./writer.ts";

let folder: string;
let store: Store;
let writer: Writer;
let id: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "palimpsest-"));
  store = openSqlite({ path: join(folder, "log.db") });
  writer = await freshThread(store);
  id = writer.lease.threadId;
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Messages from 1 on, user and assistant in turn, each long enough to be worth hiding. */
async function say(...texts: readonly string[]): Promise<void> {
  await appendMessages(
    writer,
    texts.map((content, index) => {
      const role = index % 2 === 0 ? ("user" as const) : ("assistant" as const);
      return {
        dialect: "openai" as const,
        origin: role === "user" ? ("user" as const) : ("model" as const),
        body: { role, content },
      };
    }),
  );
}

const LONG = "The build ran for a long time and printed many lines about modules that were compiled. ".repeat(20);

async function promptText(window = 100_000): Promise<string> {
  const opened = await openThread({
    store,
    id,
    shape: shapeOf("openai"),
    window,
    lease: { lease: writer.lease, lost: new AbortController().signal },
  });
  assert.equal(opened.kind, "open");
  if (opened.kind !== "open") return "";
  const { messages } = await opened.thread.prompt();
  await opened.thread.close();
  return JSON.stringify(messages);
}

async function compacted(options: { readonly style?: "rollover" } = {}): Promise<readonly OpenAiMessage[]> {
  const lease = { lease: writer.lease, lost: new AbortController().signal };
  const opened = await openThread({ store, id, shape: shapeOf("openai"), window: 8000, lease, summarization: options });
  assert.equal(opened.kind, "open");
  if (opened.kind !== "open") return [];
  const outcome = await opened.thread.compact();
  assert.equal(outcome.kind, "compacted");
  const { messages } = await opened.thread.prompt();
  await opened.thread.close();
  return messages;
}

test("what a person typed is a rule after the compaction that hides it, word for word, and the log verifies", async () => {
  await say("Never push to main.", LONG, "Look at the log.", LONG, LONG, "Done.", "And now?");
  assert.deepEqual(
    (await threadRules(writer, id))?.list.map(({ text }) => text),
    ["Never push to main."],
  );
  const messages = await compacted();
  assert.match(JSON.stringify(messages[0]), /Standing rules.*- Never push to main\./);
  assert.equal((await verify(writer, id)).kind, "whole");
});

test("what is hidden by hand leaves the count that was promised, by the provider's own measure", async () => {
  await say("What happened?", LONG, "And then?", LONG, "Thanks.");
  const counted = { input: 3000, output: 400, cacheRead: 0, cacheWrite: 0 };
  const measured = { compaction: null, prune: null, promptHash: null };
  await appendUsage(writer, { ...counted, of: 4, model: "gpt-4o", factor: null, measured });
  const before = await shownCount();
  const hidden = await cutThread(writer, { kind: "hide", seq: 2, part: null }, "act");
  assert.ok(hidden.kind === "cut" && hidden.tokensBefore === before.tokens && hidden.tokensAfter < before.tokens);
  assert.deepEqual(await shownCount(), { tokens: hidden.tokensAfter, source: "adjusted" });
  await say("And now?");
  const { tokens } = await shownCount();
  assert.ok(tokens > hidden.tokensAfter && tokens < hidden.tokensAfter + 20, `${tokens}`);
});

async function shownCount() {
  return (await sizedThread(store, (await store.load(id))!)).prompt().count;
}

test("a rule that is set by hand is shown at once, and ended it is gone", async () => {
  await say("Hello.", "Hi.", "What now?");
  await changeRules(writer, (rules, at) => addRule(rules, { text: "Answer in German." }, at));
  assert.match(await promptText(), /- Answer in German\./);
  await changeRules(writer, (rules, at) => endRule(rules, "r1", at));
  assert.doesNotMatch(await promptText(), /Answer in German/);
});

test("redacting the message a rule stands in says which rule ended", async () => {
  await say("Never call my sister Ann.", LONG, "Look at the log.", LONG, LONG, "Done.", "And now?");
  await compacted();
  await store.releaseLease(writer.lease);
  const erased = await redact(writer, id, 1);
  assert.ok(erased.kind === "redacted");
  assert.deepEqual(erased.rules, ["r1"]);
  assert.equal((await threadRules(writer, id))?.list[0]?.status, "ended");
});

test("a rule that is set alters the key of the view, so that no report of another prompt anchors the count", async () => {
  await say("Hello.", "Hi.", "What now?");
  const key = async (): Promise<string> => {
    const { prompt } = await sizedThread(store, (await store.load(id))!);
    return prompt().key;
  };
  const before = await key();
  await changeRules(writer, (rules, at) => addRule(rules, { text: "Answer in German." }, at));
  const during = await key();
  await changeRules(writer, (rules, at) => endRule(rules, "r1", at));
  assert.equal(new Set([before, during, await key()]).size, 3);
});

test("verify fails where a compaction does not list a rule that was in force", async () => {
  await say("Hello.", LONG, "More?", LONG, "And now?");
  await changeRules(writer, (rules, at) => addRule(rules, { text: "Answer in German." }, at));
  const summary = { format: "user", text: "So far.", digest: null, state: null } as const;
  const figures = { tokensBefore: 9, tokensAfter: 8, archive: null } as const;
  const { commit } = await import("./writer.ts");
  await commit(writer, [
    {
      kind: "compaction",
      covers: [1, 4],
      folds: null,
      request: null,
      systems: [],
      summary,
      rung: "extract",
      reason: "test",
      ...figures,
    },
  ]);
  const verdict = await verify(writer, id);
  assert.equal(verdict.kind === "broken" && verdict.firstBad.flaw, "missing-rule");
});

test("a hide and a fold are one record each, priced before they act, and shown again", async () => {
  await say("Hello.", LONG, "More?", LONG, "And now?");
  const before = await promptText();
  const dry = await cutThread(writer, { kind: "hide", seq: 2, part: null }, "dry-run");
  assert.ok(dry.kind === "cut" && dry.seq === null && dry.tokensAfter < dry.tokensBefore && dry.rereads > 0);
  assert.equal(await promptText(), before);
  const hidden = await cutThread(writer, { kind: "hide", seq: 2, part: null }, "act");
  assert.ok(hidden.kind === "cut" && hidden.seq === 6);
  assert.deepEqual(await showMessage(writer, { seq: 2, part: null }), { kind: "shown", undone: [6] });
  assert.equal(await promptText(), before);
  const folded = await cutThread(writer, { kind: "fold", range: [1, 4] }, "act");
  assert.ok(folded.kind === "cut");
  assert.match(await promptText(), /Messages 1 to 4 are folded/);
  assert.equal((await verify(writer, id)).kind, "whole");
  const current = await cutThread(writer, { kind: "hide", seq: 5, part: null }, "act");
  assert.equal(current.kind === "refused" && current.reason, "current-request");
});

test("notes stand at the start of the next window, and two writers can't lose each other's words", async () => {
  await say("Find the failing test.", LONG, "Go on.", LONG, "And now?");
  const write = { name: "plan", text: "The test tests/cart.test.ts fails.", revision: 0 };
  assert.equal((await changeNote(writer, write, "model")).kind, "written");
  const late = await changeNote(writer, { ...write, text: "Mine." }, "person");
  assert.equal(late.kind === "refused" && late.reason, "stale-note");
  assert.doesNotMatch(await promptText(), /cart\.test/, "inside a window only the tool's result shows it");
  const messages = await compacted({ style: "rollover" });
  assert.match(JSON.stringify(messages), /## Your notes.*cart\.test\.ts fails/s);
  assert.match(JSON.stringify(messages.at(-1)), /And now\?/);
  assert.equal((await threadNotes(writer, id))?.length, 1);
});

test("without notes a fresh window still names goal, file and failing test", async () => {
  const lines = "FAIL tests/cart.test.ts\n  Expected total 3, got 2\n1 failed";
  await say(`Fix the discount in src/cart.ts. ${LONG}`, LONG, `npm test printed:\n${lines}`, LONG, "Go on.");
  const text = JSON.stringify(await compacted({ style: "rollover" }));
  assert.match(text, /Fix the discount/);
  assert.match(text, /src\/cart\.ts/);
  assert.match(text, /tests\/cart\.test\.ts/);
});

test("a short message can be hidden, though the line in its place is longer; a range that frees nothing stays", async () => {
  const said = ["No, 5.", "Noted.", "And now?"].map((content, at) => ({
    role: at === 1 ? "assistant" : "user",
    content,
  }));
  await appendMessages(
    writer,
    said.map(
      (body) => ({ dialect: "openai" as const, origin: body.role === "user" ? "user" : "model", body }) as const,
    ),
  );
  const hidden = await cutThread(writer, { kind: "hide", seq: 1, part: null }, "act");
  assert.ok(hidden.kind === "cut" && hidden.tokensAfter > hidden.tokensBefore && hidden.paysAfter === null);
  assert.doesNotMatch(await promptText(), /No, 5/);
  const fold = await cutThread(writer, { kind: "fold", range: [1, 2], report: LONG }, "act");
  assert.match(fold.kind === "refused" ? fold.problem : "", /^nothing was hidden: .* would make it/);
});

test("each cut that can't be made says why in one sentence, and nothing changes", async () => {
  const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } } as const;
  const bodies = [
    { role: "user", content: "Look at it." },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "c1", content: LONG },
    { role: "assistant", content: LONG },
    { role: "user", content: LONG },
    { role: "assistant", content: LONG },
    { role: "user", content: "And now?" },
  ] as const;
  const origins = { user: "user", assistant: "model", tool: "tool" } as const;
  await appendMessages(
    writer,
    bodies.map((body) => ({ dialect: "openai" as const, origin: origins[body.role], body })),
  );
  assert.equal((await cutThread(writer, { kind: "fold", range: [4, 5] }, "act")).kind, "cut");
  const [before, { version }] = [await promptText(), (await store.head(id))!];
  const fold = (from: number, until: number) => cutThread(writer, { kind: "fold", range: [from, until] }, "act");
  for (const [cut, reason, problem] of [
    [() => fold(1, 2), "parts-call", /the call in message 2 has its result in message 3: take both or neither/],
    [() => fold(3, 3), "parts-call", /the call in message 2/],
    [() => fold(5, 6), "overlaps-fold", /messages 4 to 5 are folded: take all of them or none/],
    [() => fold(6, 7), "current-request", /message 7 is the current request: end the range before it/],
    [() => fold(6, 2), "bad-range", /from a smaller to a larger number, not 6 to 2/],
    [() => fold(40, 50), "no-message", /there is no message between 40 and 50/],
    [() => cutThread(writer, { kind: "hide", seq: 7, part: null }, "act"), "current-request", /message 7/],
    [() => cutThread(writer, { kind: "hide", seq: 4, part: null }, "act"), "overlaps-fold", /folded already/],
    [() => cutThread(writer, { kind: "hide", seq: 1, part: 4 }, "act"), "no-message", /has parts 0 to 0, not 4/],
    [() => showMessage(writer, { seq: 6, part: null }), "not-hidden", /message 6 is not hidden/],
  ] as const) {
    const result = await cut();
    assert.equal(result.kind === "refused" && result.reason, reason);
    assert.match(result.kind === "refused" ? result.problem : "", problem);
  }
  assert.equal((await store.head(id))!.version, version);
  assert.equal(await promptText(), before);
});
