import assert from "node:assert/strict";
import { test } from "node:test";
import { randomConversation, render, type ScriptMessage } from "@palimpsest/testing/internal/shapes";
import { DIALECTS, shapeOf } from "./dialects.ts";
import { repair } from "./repair.ts";
import {
  anthropicRules,
  assertValid,
  forRequest,
  googleRules,
  openaiRules,
  type RuleSet,
  violations,
} from "./rules.ts";
import { text } from "./schema.ts";
import type { Part, Shape } from "./shape.ts";

const user = say("user", "go");
const done = say("assistant", "done");
const system = say("system", "be kind");
const calls = (...ids: string[]): ScriptMessage => message("assistant", ...ids.map(call));
const results = (...ids: string[]): ScriptMessage => message("tool", ...ids.map(result));
const thought: Part = { kind: "reasoning", text: "hm", signature: "s", signedBy: "anthropic", redacted: false };

/** Script, rule set, and the rules broken, as `rule@index` of the rendered AI SDK list. */
const CASES: readonly (readonly [title: string, ScriptMessage[], RuleSet, ...broken: string[]])[] = [
  ["calls answered together", [user, calls("a", "b"), results("a", "b"), done], anthropicRules],
  ["results in another order", [user, calls("a", "b"), results("b", "a"), done], anthropicRules],
  ["results split over messages", [user, calls("a", "b"), results("a"), results("b")], googleRules],
  ["an id used again later [F13]", [user, calls("a"), results("a"), calls("a"), results("a")], openaiRules],
  ["a dangling call [F49]", [user, calls("a", "b"), results("a"), done], openaiRules, "paired@1"],
  ["a dangling call at the end [F49]", [user, calls("a")], openaiRules, "paired@1"],
  ["a result after something else", [user, calls("a"), user, results("a")], openaiRules, "paired@1", "paired@3"],
  ["an orphan result [F13]", [results("a"), user], openaiRules, "paired@0"],
  ["a second result", [user, calls("a"), results("a"), results("a")], openaiRules, "paired@3"],
  ["two calls of one id", [user, calls("a", "a"), results("a")], openaiRules, "paired@1"],
  ["two user turns in a row [F14]", [user, user, done], anthropicRules, "alternate@1"],
  ["two user turns in a row, at OpenAI", [user, user, done], openaiRules],
  ["an assistant in front [F14]", [system, done, user], googleRules, "user-first@1"],
  ["two system messages [F14]", [system, system, user], openaiRules, "one-system@1"],
  ["a system message in the history [F17]", [user, system, done], openaiRules, "one-system@1"],
  ["a system message alone", [system], openaiRules, "has-messages@0"],
  ["nothing", [], openaiRules, "has-messages@0"],
  ["an empty message", [user, message("assistant")], openaiRules, "no-empty-message@1"],
  ["thinking alone [F19]", [user, message("assistant", thought)], anthropicRules, "no-empty-message@1"],
  ["a blank part", [message("user", text("go"), text(" "))], anthropicRules, "no-blank-text@0"],
  ["a blank part, at OpenAI", [message("user", text("go"), text(" "))], openaiRules],
  ["thinking before a call", [user, message("assistant", thought, call("a")), results("a")], anthropicRules],
  ["thinking after a call [F19]", [user, message("assistant", call("a"), thought), results("a")], googleRules, "reasoning-first@1"],
  ["thinking of another model", [user, message("assistant", { ...thought, signature: null, signedBy: null }, text("x"))], anthropicRules, "reasoning-signed@1"],
  ["a request that ends with the assistant", [user, done], forRequest(openaiRules), "ends-with-request@1"],
  ["a request that ends with results", [user, calls("a"), results("a")], forRequest(anthropicRules)],
]; // biome-ignore format: a table

for (const [title, script, set, ...broken] of CASES) {
  test(`${set.name}: ${title} ${broken.length === 0 ? "is fine" : `breaks ${broken.join(", ")}`}`, () => {
    const shape = shapeOf("ai-sdk");
    const found = violations(render(script, shape), shape, set);
    assert.deepEqual(
      found.map(({ rule, index }) => `${rule}@${index}`),
      broken,
    );
  });

  test(`${set.name}: ${title} is judged alike and mended on every shape`, () => {
    for (const dialect of DIALECTS) {
      const shape = shapeOf(dialect) as Shape<unknown>;
      const messages = render(script, shape);
      const found = new Set(violations(messages, shape, set).map(({ rule }) => rule));
      for (const rule of broken.map((place) => place.split("@")[0])) {
        // These formats have one place for calls, behind everything else.
        const impossible = ["openai", "langchain"].includes(dialect) && rule === "reasoning-first";
        assert.equal(([...found] as string[]).includes(rule!), !impossible, `${dialect} ${rule}`);
      }
      assert.deepEqual(violations(repair(messages, shape, set).messages, shape, set), []);
    }
  });
}

test("assertValid lists every violation with its place and says how to mend the list", () => {
  const shape = shapeOf("openai");
  const messages = render([user, calls("a"), system], shape);
  assert.throws(
    () => assertValid(messages, shape, openaiRules),
    /message 2: a later system message.*\n.*message 1: call a has no result/,
  );
  assert.doesNotThrow(() => assertValid(repair(messages, shape, openaiRules).messages, shape, openaiRules));
});

test("three hundred parallel calls and their results are valid, and one missing is found", () => {
  for (const dialect of DIALECTS) {
    const shape = shapeOf(dialect) as Shape<unknown>;
    const ids = Array.from({ length: 300 }, (_, index) => `c${index}`);
    const whole = render([user, calls(...ids), results(...ids)], shape);
    assert.deepEqual(violations(whole, shape, anthropicRules), []);
    const torn = render([user, calls(...ids), results(...ids.toSpliced(150, 1))], shape);
    assert.match(violations(torn, shape, anthropicRules)[0]!.detail, /c150/);
  }
});

test("what the generator calls valid is valid", () => {
  for (let seed = 0; seed < 200; seed++) {
    const script = randomConversation(seed, { longest: 30, parallel: 20 });
    for (const dialect of ["anthropic", "ai-sdk"] as const) {
      const shape = shapeOf(dialect) as Shape<unknown>;
      assertValid(render(script, shape), shape, anthropicRules);
    }
    assertValid(render(script, shapeOf("openai")), shapeOf("openai"), openaiRules);
  }
});

function say(role: "system" | "user" | "assistant", words: string): ScriptMessage {
  return message(role, text(words));
}

function message(role: ScriptMessage["role"], ...parts: Part[]): ScriptMessage {
  return { role, parts };
}

function call(id: string): Part {
  return { kind: "call", id, name: "f", input: "{}" };
}

function result(id: string): Part {
  return { kind: "result", id, name: "f", text: `of ${id}`, isError: false, images: [] };
}
