import assert from "node:assert/strict";
import { test } from "node:test";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import fc from "fast-check";
import { boundReasoning, signaturesOf } from "./bound-reasoning.ts";
import { shapeOf } from "./dialects.ts";
import { repair } from "./repair.ts";
import { anthropicRules, violations } from "./rules.ts";
import type { Part, Shape } from "./shape.ts";

const hash = (text: string): string =>
  `${text.length}:${[...text].reduce((sum, at) => (sum * 31 + at.charCodeAt(0)) >>> 0, 7)}`;
const FIXED = "system and tools";

for (const dialect of ["anthropic", "ai-sdk"] as const) {
  const shape = shapeOf(dialect) as Shape<object>;
  const thought = (signature: string): Part => ({
    kind: "reasoning",
    text: "hm",
    signature,
    signedBy: "anthropic",
    redacted: false,
  });
  const said = (text: string): object => shape.turn("user", text);
  const answer = (signature: string, text: string): object =>
    shape.make("assistant", [thought(signature), { kind: "text", text }])[0]!;
  const signatures = (messages: readonly object[]): readonly string[] =>
    messages.flatMap((one) => signaturesOf(shape.parts(one)));

  /** Each answer as a model would have given it: made under all that stands before it. */
  function live(messages: readonly object[], fixed = FIXED): (signature: string) => string | undefined {
    const made = new Map<string, string>();
    for (const [index, message] of messages.entries()) {
      const { prefix } = boundReasoning(messages.slice(0, index), {
        shape,
        hash,
        fixed,
        madeUnder: (one) => made.get(one),
      });
      for (const signature of signaturesOf(shape.parts(message))) made.set(signature, prefix);
    }
    return (signature) => made.get(signature);
  }

  const talk = [said("one"), answer("s1", "first"), said("two"), answer("s2", "second"), said("three")];

  const CHANGES: readonly (readonly [string, readonly object[], string, readonly string[]])[] = [
    ["nothing changed", talk, FIXED, ["s1", "s2"]],
    ["more was said", [...talk, answer("s3", "third")], FIXED, ["s1", "s2"]],
    ["another system prompt", talk, "another", []],
    ["the first message is another one", talk.with(0, said("uno")), FIXED, []],
    ["a message between them is another one", talk.with(2, said("dos")), FIXED, ["s1"]],
    ["an answer's text was edited", talk.with(1, answer("s1", "edited")), FIXED, ["s1"]],
    ["a summary stands for the beginning", [said("a summary"), ...talk.slice(2)], FIXED, []],
  ];

  for (const [what, messages, fixed, kept] of CHANGES) {
    test(`${dialect}: ${what}: ${kept.length === 0 ? "no thought" : kept.join(" and ")} is sent again`, () => {
      const bound = boundReasoning(messages, { shape, hash, fixed, madeUnder: live(talk) });
      assert.deepEqual(signatures(bound.messages), kept);
      assert.equal(bound.lost.size, signatures(messages).length - kept.length);
      assert.deepEqual(texts(bound.messages), texts(messages));
    });
  }

  test(`${dialect}: a thought whose request nobody recorded is left out, thinking without a signature stays`, () => {
    const open: Part = { kind: "reasoning", text: "hm", signature: null, signedBy: null, redacted: false };
    const messages = [said("one"), ...shape.make("assistant", [open, { kind: "text", text: "x" }]), said("two")];
    const unknown = { shape, hash, fixed: FIXED, madeUnder: () => undefined };
    assert.deepEqual(boundReasoning(messages, unknown).messages, messages);
    assert.deepEqual(signatures(boundReasoning(talk, unknown).messages), []);
  });

  test(`${dialect}: in any conversation what is only appended to keeps every thought, as the same objects, and what is changed loses those behind the change and nothing else`, () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (seed, place) => {
        const script = randomConversation(seed, {
          messages: 12,
          longest: 30,
          reasoning: 0.7,
          signed: true,
          parallel: 3,
        });
        const messages = unique(repair(render(script, shape), shape, anthropicRules).messages, shape);
        const madeUnder = live(messages);
        const same = boundReasoning(messages, { shape, hash, fixed: FIXED, madeUnder });
        assert.ok(same.messages.every((message, index) => message === messages[index]));

        const at = place % messages.length;
        const changed = messages.with(at, shape.join(messages[at]!, shape.turn(roleOf(messages[at]!), "and more")));
        const bound = boundReasoning(changed, { shape, hash, fixed: FIXED, madeUnder });
        assert.deepEqual(signatures(bound.messages), signatures(messages.slice(0, at + 1)));
        assert.deepEqual(texts(bound.messages), texts(changed));
        if (violations(changed, shape, anthropicRules).length === 0) {
          assert.deepEqual(violations(bound.messages, shape, anthropicRules), []);
        }
        const again = boundReasoning(bound.messages, { shape, hash, fixed: FIXED, madeUnder });
        assert.equal(again.lost.size, 0);
        assert.equal(again.prefix, bound.prefix);
      }),
      { numRuns: 200 },
    );
  });

  function texts(messages: readonly object[]): readonly Part[] {
    return messages.flatMap((message) => shape.parts(message).filter(({ kind }) => kind !== "reasoning"));
  }

  function roleOf(message: object): "user" | "assistant" {
    return shape.role(message) === "assistant" ? "assistant" : "user";
  }
}

/** As a provider signs: no two thoughts alike. */
function unique(messages: readonly object[], shape: Shape<object>): readonly object[] {
  let count = 0;
  return messages.map((message) =>
    shape.parts(message).reduce((changed, part, index) => {
      if (part.kind !== "reasoning") return changed;
      return shape.withPart(changed, index, { ...part, signature: `signed-${++count}`, signedBy: "anthropic" });
    }, message),
  );
}
