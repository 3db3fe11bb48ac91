// What the gate lets pass, and that the data it runs on is the same each time and shaped like the real thing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openaiRules, openaiShape, violations } from "@palimpsest/core/internal/message";
import { generatedDialogs } from "../bench/gate/dialogs.ts";
import { judge } from "../bench/gate/judge.ts";
import { generatedSession } from "../bench/gate/session.ts";

test("a figure worse by more than its margin fails the gate, a better or slightly worse one passes", () => {
  const verdict = (better: "lower" | "higher", value: number, before?: number): boolean =>
    judge([{ name: "figure", value, better, margin: 0.1 }], before === undefined ? {} : { figure: before })[0]!.ok;
  assert.equal(verdict("lower", 1.05, 1), true);
  assert.equal(verdict("lower", 1.2, 1), false);
  assert.equal(verdict("lower", 0.2, 1), true);
  assert.equal(verdict("higher", 0.95, 1), true);
  assert.equal(verdict("higher", 0.8, 1), false);
  assert.equal(verdict("higher", 3, 1), true);
  assert.equal(verdict("lower", Number.NaN, 1), false);
  assert.equal(verdict("lower", 1), false, "a figure nobody has committed");
});

test("a generated session is the same each time, valid for a provider, and reports a growing prompt", async () => {
  const session = await generatedSession(3, 4);
  assert.equal(await generatedSession(3, 4), session);
  const lines = session.trim().split("\n");
  const parsed = lines.map((line) => JSON.parse(line) as { message: never; usage?: { input: number } });
  assert.deepEqual(
    violations(
      parsed.map(({ message }) => message),
      openaiShape,
      openaiRules,
    ),
    [],
  );
  const inputs = parsed.flatMap(({ usage }) => (usage === undefined ? [] : [usage.input]));
  assert.ok(inputs.length > 20);
  assert.ok(inputs.every((input, index) => index === 0 || input > inputs[index - 1]!));
});

test("generated dialogs are the same each time, and every question's evidence exists", () => {
  const text = generatedDialogs(3, 1);
  assert.equal(generatedDialogs(3, 1), text);
  const [dialog] = JSON.parse(text) as [{ conversation: Record<string, unknown>; qa: { evidence: string[] }[] }];
  assert.ok(dialog.qa.length > 20);
  const said = JSON.stringify(dialog.conversation);
  for (const id of dialog.qa.flatMap(({ evidence }) => evidence)) assert.ok(said.includes(`"${id}"`), id);
});
