import assert from "node:assert/strict";
import { test } from "node:test";
import type { Dialect, OpenAiMessage, ResponsesMessage, Shape } from "@palimpsest/core/internal/message";
import {
  DIALECTS,
  openaiShape,
  responsesItems,
  responsesTurns,
  rulesOf,
  shapeOf,
  violations,
} from "@palimpsest/core/internal/message";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import fc from "fast-check";
import { FloorError } from "../compaction/summarization.ts";
import { type CompactedMessages, compactMessages } from "./compact-messages.ts";
import { createMessageCompactor } from "./message-compactor.ts";
import type { CompactMessagesOptions } from "./options.ts";
import { type MessagesState, StateMismatchError } from "./state.ts";

/** An array's kind: one of our dialects, a flat list of Responses items, or somebody's own shape. */
const kinds = [...DIALECTS, "flat", "own"] as const;
type Kind = (typeof kinds)[number];

const scenario = fc.record({
  seed: fc.nat(1e6),
  kind: fc.constantFrom(...kinds),
  window: fc.integer({ min: 3500, max: 12_000 }),
  step: fc.integer({ min: 1, max: 9 }),
});
const RUNS = { numRuns: 40 };

test("any array of any dialect: valid for its provider, never over the window, nothing lost, and twice the same is the same", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ seed, kind, window, step }) => {
      const { turns, shape, options, flat } = arrayOf(kind, seed);
      let state: MessagesState | undefined;
      for (let end = step; end <= turns.length; end += step) {
        const said = flat(turns.slice(0, end));
        const given = { ...options, window, state };
        const result = await fitting(() => compactMessages(said, given));
        if (result === null) return;
        assertGood(result, { kind, window });
        assertNothingLost(result, said, { kind, shape });
        const again = await compactMessages(said, { ...given, state: copy(state) });
        assert.deepEqual([again.messages, again.state], [result.messages, result.state]);
        state = copy(result.state);
      }
    }),
    RUNS,
  );
});

test("an edited array, a shorter one or another one never loses its last question, whatever the state says", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, fc.nat(), fc.constantFrom("cut", "edited", "other"), async (given, at, how) => {
      const { turns, shape, options, flat } = arrayOf(given.kind, given.seed);
      const all = flat(turns);
      const { window } = given;
      const first = await fitting(() => compactMessages(all, { ...options, window }));
      if (first === null) return;
      const place = at % all.length;
      const other = flat(arrayOf(given.kind, given.seed + 1).turns);
      const question = askedIn(given.kind, shape);
      const kept = how === "other" ? other.slice(0, place) : all.slice(0, place);
      const edited = [...kept, question, ...(how === "edited" ? all.slice(place + 1) : [])];
      const call = { ...options, window, state: first.state };
      const result = await fitting(() => compactMessages(edited, { ...call, onMismatch: "reset" }));
      if (result === null) return;
      assertGood(result, given);
      if (how !== "edited") assert.match(JSON.stringify(result.messages), /Where is the Marigold/);
      const strict = await fitting(() => compactMessages(edited, call)).catch((error: unknown) => error);
      if (result.recognized === "foreign") assert.ok(StateMismatchError.isInstance(strict), String(strict));
      else assert.deepEqual((strict as CompactedMessages<object>).messages, result.messages);
    }),
    RUNS,
  );
});

test("an array that goes on from what was given back, as the AI SDK's prepareStep does, is known: nothing said since is lost", async () => {
  let known = 0;
  await fc.assert(
    fc.asyncProperty(scenario, fc.boolean(), async ({ seed, kind, window, step }, keeps) => {
      const { turns, options, flat } = arrayOf(kind, seed);
      let state: MessagesState | undefined;
      let carried: readonly object[] = [];
      const compactor = createMessageCompactor({ ...options, window });
      let from = 0;
      for (let end = step; end <= turns.length; end += 1) {
        // A step of the AI SDK is over when its calls are answered.
        if (end - from < step || !isValid(flat(turns.slice(0, end)), kind)) continue;
        const said = [...carried, ...flat(turns.slice(from, end))];
        from = end;
        const result: CompactedMessages<object> | null = await fitting(() =>
          keeps ? compactor.prompt(said) : compactMessages(said, { ...options, window, state }),
        );
        if (result === null) return;
        assertGood(result, { kind, window });
        assert.notEqual(result.recognized, "foreign");
        if (result.recognized === "compacted") known += 1;
        if (keeps) assert.equal(compactor.state.said.count, turnsOf(flat(turns.slice(0, end)), kind).length);
        state = copy(result.state);
        carried = result.messages;
      }
    }),
    RUNS,
  );
  assert.ok(known > 10, `${known} arrays were known by what they begin with`);
});

function assertGood(result: CompactedMessages<object>, { kind, window }: { kind: Kind; window: number }): void {
  assert.ok(result.tokens <= window - Math.min(window / 8, 8192), `${result.tokens} tokens in ${window}`);
  assert.equal(result.messages.length, result.sources.length);
  if (result.messages.length === 0) return;
  assert.deepEqual(brokenRules(result.messages, kind), []);
}

function isValid(messages: readonly object[], kind: Kind): boolean {
  return brokenRules(messages, kind).length === 0;
}

function brokenRules(given: readonly object[], kind: Kind) {
  const dialect = dialectOf(kind);
  const messages = kind === "own" ? (given as Wrapped[]).map(({ wrapped }) => wrapped) : given;
  return violations(turnsOf(messages, kind), shapeOf(dialect) as unknown as Shape<object>, rulesOf(dialect));
}

/** What the state doesn't hide is shown; what it hides stands in the array at the places it names. */
function assertNothingLost(
  { messages, state }: CompactedMessages<object>,
  said: readonly object[],
  { kind, shape }: { kind: Kind; shape: Shape<object> },
): void {
  const shown = JSON.stringify(messages);
  const turns = turnsOf(said, kind);
  const last = state.compaction?.covers[1] ?? 0;
  assert.ok(last <= turns.length && state.hidden.count === last);
  const shortened = new Set(state.prunes.flatMap(({ entries }) => entries.map(({ target }) => target)));
  for (const [index, turn] of turns.entries()) {
    if (index < last || shortened.has(index + 1) || shape.role(turn) === "system") continue;
    for (const part of shape.parts(turn))
      if (part.kind === "text")
        assert.ok(shown.includes(JSON.stringify(part.text).slice(1, -1)), `message ${index + 1}`);
  }
}

async function fitting<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (FloorError.isInstance(error)) return null;
    throw error;
  }
}

interface Wrapped {
  readonly wrapped: OpenAiMessage;
}

/** Somebody's own messages, that no dialect knows. */
const ownShape: Shape<Wrapped> = {
  dialect: "own",
  role: ({ wrapped }) => openaiShape.role(wrapped),
  wireRole: ({ wrapped }) => openaiShape.wireRole(wrapped),
  parts: ({ wrapped }) => openaiShape.parts(wrapped),
  withPart: ({ wrapped }, index, part) => ({ wrapped: openaiShape.withPart(wrapped, index, part) }),
  select: ({ wrapped }, indices) => ({ wrapped: openaiShape.select(wrapped, indices) }),
  calls: ({ wrapped }) => openaiShape.calls(wrapped),
  answers: ({ wrapped }) => openaiShape.answers(wrapped),
  make: (role, parts) => openaiShape.make(role, parts).map((wrapped) => ({ wrapped })),
  turn: (role, text) => ({ wrapped: openaiShape.turn(role, text) }),
  results: (answers) => openaiShape.results(answers).map((wrapped) => ({ wrapped })),
  join: (first, second) => ({ wrapped: openaiShape.join(first.wrapped, second.wrapped) }),
};

function dialectOf(kind: Kind): Dialect {
  if (kind === "own") return "openai";
  return kind === "flat" ? "openai-responses" : kind;
}

function arrayOf(kind: Kind, seed: number) {
  const shape = (kind === "own" ? ownShape : shapeOf(dialectOf(kind))) as unknown as Shape<object>;
  const signer = kind === "flat" || kind === "openai-responses" ? "openai" : "anthropic";
  const script = randomConversation(seed, { messages: 50, longest: 2500, parallel: 3, system: 0.2, signer });
  const turns = render(script, shape);
  const options: Pick<CompactMessagesOptions, "shape" | "dialect"> =
    kind === "own" ? { shape } : { dialect: dialectOf(kind) };
  // Whoever keeps a flat list adds the items of an answer at once.
  const flat = (some: readonly object[]): readonly object[] =>
    kind === "flat" ? responsesItems(some as readonly ResponsesMessage[]) : some;
  return { turns, shape, options, flat };
}

function askedIn(kind: Kind, shape: Shape<object>): object {
  const [question] = turnsOf([shape.turn("user", "Where is the Marigold?")], kind);
  return question!;
}

function turnsOf(messages: readonly object[], kind: Kind): readonly object[] {
  return kind === "flat" ? (responsesTurns(messages as never) as readonly object[]) : messages;
}

function copy<T>(value: T): T {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}
