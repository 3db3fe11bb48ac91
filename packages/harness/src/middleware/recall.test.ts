import assert from "node:assert/strict";
import { test } from "node:test";
import { agentKit, deepAgentKit, textOf } from "../../test/agent/agent-kit.ts";
import { recall } from "./basics.ts";

const WORDS = "the parser reads tokens one by one and keeps a stack of what is open ".repeat(12);

test("recall finds what a compaction has hidden, not its own echo, and recall_read reads it word for word", async () => {
  const fact = "The launch code word is quicksilver-77, and it must be said twice.";
  let asked = "";
  const kit = deepAgentKit(
    ({ prompt }) => {
      const last = textOf(prompt.findLast(({ role }) => role === "user") as never);
      if (!last.includes("launch code")) return WORDS;
      const results = prompt.filter(({ role }) => role === "tool").length;
      if (asked === last && results > 0) return "found";
      asked = last;
      return {
        calls: [
          { name: "recall", input: { query: "launch code word" } },
          { name: "recall_read", input: { from: 1, to: 4 } },
        ],
      };
    },
    { window: 6_000 },
  );
  await kit.agent.generate({ threadId: "t", prompt: fact.replace("launch code", "launching code") });
  for (let turn = 0; turn < 15; turn++)
    await kit.agent.generate({ threadId: "t", prompt: `Question ${turn}: ${WORDS}` });
  assert.ok(kit.of("compaction-end").some(({ outcome }) => outcome.kind === "compacted"));
  await kit.agent.generate({ threadId: "t", prompt: "What was the launch code word?" });
  const ends = kit.of("tool-end").filter(({ name }) => name.startsWith("recall"));
  assert.match(String(ends[0]?.output), /quicksilver-77/);
  assert.doesNotMatch(String(ends[0]?.output), /What was the launch code/);
  assert.match(String(ends[1]?.output), /user: The launching code word is quicksilver-77, and it must be said twice\./);
});

test("in a small window an answer leaves out the lowest ranked hits, and is not cut where the best one stands", async () => {
  const shown: string[] = [];
  const kit = deepAgentKit(
    ({ prompt }) => {
      const last = prompt.at(-1)!;
      if (last.role === "tool") shown.push(textOf(last as never));
      const pier = /cost of the lamp at pier (\d+)/.exec(last.role === "user" ? textOf(last as never) : "");
      return pier === null
        ? `You said: "${textOf(last as never)}" I keep everything said here; ask me about any of it.`
        : { calls: [{ name: "recall", input: { query: `lamp pier ${pier[1]} cost` } }] };
    },
    { window: 3_000 },
  );
  for (let note = 1; note <= 30; note += 1) {
    const prompt = `Note ${note}: the lamp at pier ${note} was repaired by Olaf on day ${note} of the month, at a price of ${note * 13} crowns, in rain.`;
    await kit.agent.generate({ threadId: "t", prompt });
  }
  for (const pier of [5, 9]) {
    await kit.agent.generate({ threadId: "t", prompt: `What was the cost of the lamp at pier ${pier}?` });
    assert.match(shown.at(-1)!, new RegExp(`a price of ${pier * 13} crowns`));
    assert.doesNotMatch(shown.at(-1)!, /cut here/);
  }
});

test("a message longer than one reading is read on where it stopped, to its last word", async () => {
  const long = Array.from({ length: 900 }, (_, n) => `line ${n}`).join("\n");
  const kit = agentKit(
    ({ prompt, index }) => {
      const last = prompt.at(-1)!;
      if (index === 0) return { calls: [{ name: "recall_read", input: { from: 3 } }] };
      const next = /recall_read from (\d+) offset (\d+)/.exec(textOf(last as never));
      if (next === null) return "read";
      return { calls: [{ name: "recall_read", input: { from: Number(next[1]), offset: Number(next[2]) } }] };
    },
    { middleware: [recall({ tokens: 500 })] },
  );
  await kit.agent.generate({ threadId: "t", prompt: long });
  const pieces = kit.of("tool-end").map(({ output }) => String(output));
  assert.ok(pieces.length > 2);
  const read = pieces.map((piece) => piece.replace(/^3 user: /, "").replace(/\n\(goes on:.*\)$/, "")).join("");
  assert.equal(read.replaceAll("\n  ", "\n"), long);
});
