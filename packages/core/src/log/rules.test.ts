import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { replaces } from "./rule-words.ts";
import {
  addRule,
  copyRules,
  ENDED_RULE,
  editRule,
  endRule,
  eraseRules,
  liftRules,
  NO_RULES,
  RULE_LIMITS,
  type RuleChange,
  type RuleList,
  readRules,
  recognizeRules,
  renderRules,
  restoreRule,
  rulesInForce,
  ruleTokens,
  withoutEnded,
} from "./rules.ts";

const AT = "2026-11-18T08:00:00.000Z";

function changed(change: RuleChange): RuleList {
  assert.equal(change.kind, "changed");
  return change.kind === "changed" ? change.rules : NO_RULES;
}

function texts(rules: RuleList): readonly string[] {
  return rulesInForce(rules).map(({ text }) => text);
}

test("a rule is set, edited, ended and restored", () => {
  let rules = changed(addRule(NO_RULES, { text: "  Never push\n to main. " }, AT));
  assert.deepEqual(texts(rules), ["Never push to main."]);
  rules = changed(editRule(rules, "r1", "Never push to main or release.", AT));
  assert.deepEqual(texts(rules), ["Never push to main or release."]);
  assert.equal(rules.list[0]?.ended, "r2");
  rules = changed(endRule(rules, "r2", AT));
  assert.deepEqual(texts(rules), []);
  rules = changed(restoreRule(rules, "r2", AT));
  assert.deepEqual(texts(rules), ["Never push to main or release."]);
  assert.deepEqual(readRules({ rules: JSON.parse(JSON.stringify(rules)) }), rules);
});

test("what can't be done is refused with a reason and changes nothing", () => {
  const reason = (change: RuleChange) => (change.kind === "refused" ? change.reason : change.kind);
  assert.equal(reason(addRule(NO_RULES, { text: " \n" }, AT)), "empty-rule");
  assert.equal(reason(addRule(NO_RULES, { text: "x".repeat(501) }, AT)), "long-rule");
  assert.equal(reason(endRule(NO_RULES, "r9", AT)), "no-rule");
  const copied = copyRules(NO_RULES, { user: ["Answer in German."] }, AT);
  assert.equal(reason(endRule(copied, "r1", AT)), "copied-rule");
});

for (const [next, old, expected] of [
  ["Always answer in English.", "Always answer in German.", true],
  ["Please reply in French from now on.", "From now on answer in German", true],
  ["Forget what I said about German; answer in English from now on.", "Always answer in German.", true],
  ["You may push to main.", "Never push to main.", false],
  ["Always push to main.", "Never push to main.", true],
  ["Never push to production.", "Never push to main.", false],
  ["Keep answers under 100 words.", "Keep answers under 50 words.", true],
  ["Always use tabs instead of spaces.", "Always use spaces.", true],
  ["Always use type hints.", "Always use spaces.", false],
  ["Never push to main.", "Never push to main.", true],
  ["Always run the tests before committing.", "Always run the linter before committing.", false],
  ["Use port 9090 for staging.", "Use port 8080 for staging.", true],
  ["Never touch ticket 13.", "Never touch ticket 12.", false],
  ["Never send more than 3 mails a day.", "Never send more than 5 mails a day.", true],
] as const) {
  test(`"${next}" ${expected ? "ends" : "leaves"} "${old}"`, () =>
    assert.equal(replaces(next, old, "recognized"), expected));
}

for (const [next, old, expected] of [
  ["Use port 9090 for staging.", "Use port 8080 for staging.", false],
  ["Read chapter 2 before you answer.", "Read chapter 1 before you answer.", false],
  ["Server 2 hosts the database.", "Server 1 hosts the database.", false],
  ["Chapter 4 needs a summary.", "Chapter 3 needs a summary.", false],
  ["Indent with 4 spaces.", "Indent with 2 spaces.", true],
  ["Antworte in h\u00f6chstens 5 S\u00e4tzen.", "Antworte in h\u00f6chstens 3 S\u00e4tzen.", true],
  ["Answer in English.", "Answer in German.", true],
  ["Push to main.", "Never push to main.", true],
] as const) {
  test(`set by hand, "${next}" ${expected ? "ends" : "leaves"} "${old}"`, () => {
    let rules = changed(addRule(NO_RULES, { text: old }, AT));
    rules = changed(addRule(rules, { text: next }, AT));
    assert.deepEqual(texts(rules), expected ? [next] : [old, next]);
  });
}

test("recognized rules end older ones, come once, and wait as proposals beyond the limits", () => {
  const found = [
    { text: "Always answer in German.", source: 3 },
    { text: "Never push to main.", source: 5 },
    { text: "Always answer in English.", source: 9 },
  ];
  const rules = recognizeRules(NO_RULES, found, AT);
  assert.deepEqual(texts(rules), ["Never push to main.", "Always answer in English."]);
  assert.equal(recognizeRules(rules, found, AT), rules, "the same messages again change nothing");
  const ended = changed(endRule(rules, "r2", AT));
  assert.equal(recognizeRules(ended, found, AT), ended, "what a person ended stays ended");
  const many = Array.from({ length: 25 }, (_, index) => ({
    text: `Never touch folder f${index}x.`,
    source: index + 20,
  }));
  const full = recognizeRules(NO_RULES, many, AT);
  assert.equal(texts(full).length, RULE_LIMITS.count);
  assert.equal(full.list.filter(({ status }) => status === "proposed").length, 5);
  const refused = addRule(full, { text: "Never delete logs." }, AT);
  assert.ok(
    refused.kind === "refused" && refused.reason === "too-many-rules" && /end one first.*r1/.test(refused.problem),
  );
});

test("copies follow their origin, and equal origins write nothing", () => {
  const rules = copyRules(
    changed(addRule(NO_RULES, { text: "Never push." }, AT)),
    { agent: ["Be brief.", "Cite."] },
    AT,
  );
  assert.deepEqual(texts(rules), ["Never push.", "Be brief.", "Cite."]);
  assert.equal(copyRules(rules, { agent: ["Cite.", "Be brief."] }, AT), rules);
  assert.deepEqual(texts(copyRules(rules, { agent: ["Cite."] }, AT)), ["Never push.", "Cite."]);
});

test("erasing a source ends its rule and erases the text", () => {
  const rules = recognizeRules(NO_RULES, [{ text: "Never call my sister Ann.", source: 4 }], AT);
  const erased = readRules({ rules: eraseRules(rules, ({ source }) => source === 4) });
  assert.deepEqual(texts(erased), []);
  assert.ok(!JSON.stringify(erased).includes("Ann"));
  assert.equal(restoreRule(erased, "r1", AT).kind, "refused");
  assert.equal(
    eraseRules(rules, ({ source }) => source === 5),
    rules,
  );
});

test("whatever is done, the rules in force stay within the limits, have unique ids and stand in the text word for word", () => {
  const act = fc.record({
    kind: fc.constantFrom("add", "edit", "end", "restore", "recognize", "copy"),
    number: fc.integer({ min: 1, max: 40 }),
    text: fc.oneof(fc.string({ maxLength: 600 }), fc.constantFrom("Never push to main.", "Always use tabs.")),
  });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      let rules = NO_RULES;
      for (const { kind, number, text } of acts) {
        const id = `r${number}`;
        const change =
          kind === "add"
            ? addRule(rules, { text }, AT)
            : kind === "edit"
              ? editRule(rules, id, text, AT)
              : kind === "end"
                ? endRule(rules, id, AT)
                : kind === "restore"
                  ? restoreRule(rules, id, AT)
                  : null;
        if (change?.kind === "changed") rules = change.rules;
        if (kind === "recognize") rules = recognizeRules(rules, [{ text, source: number }], AT);
        if (kind === "copy") rules = copyRules(rules, { user: [text, `${text} ${number}`] }, AT);
        const inForce = rulesInForce(rules);
        assert.ok(inForce.length <= RULE_LIMITS.count && ruleTokens(inForce) <= RULE_LIMITS.tokens);
        assert.equal(new Set(rules.list.map((rule) => rule.id)).size, rules.list.length);
        const shown = renderRules(inForce);
        for (const rule of inForce) assert.ok(shown.includes(rule.text));
      }
    }),
  );
});

test("a text says of an ended rule that it ended, and leaves the rules in force as they are", () => {
  let rules = changed(addRule(NO_RULES, { text: "Push to main." }, AT));
  rules = changed(addRule(rules, { text: "Never push to main." }, AT));
  assert.deepEqual(texts(rules), ["Never push to main."]);
  const said = withoutEnded("- Never push to main.\n- push  to MAIN\n- We push to mainland.", rules);
  assert.equal(said, `- Never push to main.\n- ${ENDED_RULE}\n- We push to mainland.`);
  assert.equal(withoutEnded("Push to main.", changed(restoreRule(rules, "r1", AT))), "Push to main.");
  assert.equal(withoutEnded("Push to main.", NO_RULES), "Push to main.");
});

test("what a person says in a thread ends their own rule there, and its copy stays ended; an agent's rule stands", () => {
  const copied = copyRules(NO_RULES, { user: ["Answer in German."], agent: ["Never push to main."] }, AT);
  const said = recognizeRules(
    copied,
    [
      { text: "Answer in English from now on.", source: 4 },
      { text: "Always push to main.", source: 5 },
    ],
    AT,
  );
  const again = copyRules(said, { user: ["Answer in German."], agent: ["Never push to main."] }, AT);
  assert.equal(again, said);
  assert.deepEqual(texts(again), ["Never push to main.", "Answer in English from now on.", "Always push to main."]);
});

test("what an act ended is told as ended", () => {
  const rules = changed(addRule(NO_RULES, { text: "Answer in German." }, AT));
  for (const change of [
    addRule(rules, { text: "Answer in English." }, AT),
    editRule(rules, "r1", "Answer in Dutch.", AT),
    endRule(rules, "r1", AT),
  ])
    assert.deepEqual(change.kind === "changed" && change.ended.map(({ id, status }) => [id, status]), [
      ["r1", "ended"],
    ]);
});

const LIFT = { text: "Forget that rule.", source: 9, liftsAt: "2026-11-18T09:00:00.000Z" };
const LATER = "2026-11-18T10:00:00.000Z";

test("words that mean the newest rule end no older one where the newest was set or restored by hand", () => {
  const push = recognizeRules(NO_RULES, [{ text: "Never push to main.", source: 1 }], AT);
  const byHand = changed(addRule(push, { text: "Answer in German." }, AT));
  assert.deepEqual(texts(recognizeRules(byHand, [LIFT], LATER)), ["Never push to main.", "Answer in German."]);
  const both = recognizeRules(push, [{ text: "Always use tabs.", source: 3 }], AT);
  const restored = changed(restoreRule(changed(endRule(both, "r1", AT)), "r1", AT));
  assert.deepEqual(texts(recognizeRules(restored, [LIFT], LATER)), ["Always use tabs.", "Never push to main."]);
});

test("words that mean the newest rule end one rule, however often their message is read", () => {
  const first = recognizeRules(NO_RULES, [{ text: "Never push to main.", source: 1 }], AT);
  const read = [{ text: "Always use tabs.", source: 3 }, LIFT];
  const once = recognizeRules(first, read, LATER);
  assert.deepEqual(texts(once), ["Never push to main."]);
  assert.equal(recognizeRules(once, read, LATER), once);
  const byHand = changed(addRule(first, { text: "Answer in German." }, AT));
  const none = changed(endRule(recognizeRules(byHand, [LIFT], LATER), "r2", LATER));
  assert.deepEqual(texts(recognizeRules(none, [LIFT], LATER)), ["Never push to main."]);
});

test("words that lift a rule set by hand end nothing and name the rule that stays", () => {
  const rules = changed(addRule(NO_RULES, { text: "Answer in German." }, AT));
  const { ended, kept } = liftRules(rules, { ...LIFT, text: "Drop the rule about German." });
  assert.deepEqual([ended, kept.map(({ id }) => id)], [[], ["r1"]]);
});

test("an id without its letter is refused with the id that was meant", () => {
  const rules = changed(addRule(NO_RULES, { text: "Answer in German." }, AT));
  const refused = endRule(rules, "1", AT);
  assert.match(refused.kind === "refused" ? refused.problem : "", /did you mean r1\?/);
});
