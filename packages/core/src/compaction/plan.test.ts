import assert from "node:assert/strict";
import { test } from "node:test";
import { plainPrompt } from "@palimpsest/testing/internal/shapes";
import type { CompactionRecord, MessageRecord, PruneRecord } from "../log/record.ts";
import { liveAfter, NOTHING_LIVE, sent } from "../log/structure.ts";
import { ACKNOWLEDGEMENT, type LiveRecords, view } from "../log/view.ts";
import { type OpenAiMessage, openaiShape } from "../message/openai.ts";
import { charsPerToken, createMeter } from "../tokens/counter.ts";
import { type CompactPlan, type Plan, planCompaction } from "./plan.ts";
import type { Keep, Policy, Threshold } from "./policy.ts";

const shape = openaiShape;
const count = charsPerToken(4);
const words = (tokens: number, seed = 0): string => `${seed} `.padEnd(tokens * 4 - 16, "lorem ipsum ");
const user = (text: string): OpenAiMessage => ({ role: "user", content: text });
const ai = (text: string): OpenAiMessage => ({ role: "assistant", content: text });
const call = (...ids: string[]): OpenAiMessage => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "read", arguments: '{"path":"a.ts"}' } })),
});
const result = (id: string, text = "ok"): OpenAiMessage => ({ role: "tool", tool_call_id: id, content: text });
const alternating = (pairs: number, tokens = 40): OpenAiMessage[] =>
  Array.from({ length: pairs }, (_, index) => [user(words(tokens, index)), ai(words(tokens, index))]).flat();

test("50 alternating messages, keep 20, as a system message: 21 stand", () => {
  const thread = open(alternating(25));
  const plan = compacts(planned(thread, { trigger: [messages(50)], keep: messages(20), summaryFormat: "system" }));
  assert.equal(plan.cut?.hidden, 30);
  assert.equal(thread.after(plan, "system").length, 21);
});

test("a message of 1,000 pictures is read a few times, not once for each", (t) => {
  const parts = t.mock.method(shape, "parts");
  const picture = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  const content = Array.from({ length: 1000 }, () => picture);
  const thread = open([user("see"), { role: "user", content } as OpenAiMessage]);
  planned(thread, { window: 4000 });
  assert.ok(parts.mock.callCount() < 100, `${parts.mock.callCount()}`);
});

test("a thread of 200,000 messages is planned like a short one", () => {
  const entries = Array.from({ length: 200_000 }, (_, index) => ({
    seq: index + 1,
    role: index % 2 === 0 ? "user" : "assistant",
    message: index % 2 === 0 ? user("why") : ai("so"),
    source: "message" as const,
    addition: null,
  }));
  const plan = compacts(planned({ ...open([]), view: entries }, { keep: messages(20) }));
  assert.deepEqual(plan.cut?.covers, [1, 199_980]);
});

test("keep 15 keeps all of the last 15", () => {
  const all = alternating(25);
  const thread = open(all);
  const plan = compacts(planned(thread, { trigger: [messages(50)], keep: messages(15) }));
  assert.deepEqual(thread.after(plan).slice(-15), all.slice(-15));
});

test("[F13] with ceilings the tail never begins on an orphan", () => {
  const all = [user("h"), call("1"), result("1"), ai(words(300)), user("h"), ai("a"), user("h")];
  for (let ceiling = 1; ceiling <= 7; ceiling++) {
    const plan = planned(open(all), { keep: [messages(ceiling)], cause: "manual" });
    if (plan.kind === "compact" && plan.cut !== null) assert.equal(shape.role(all[plan.cut.tail]!), "user");
  }
});

test("250-token messages at a 2,000 window with ceilings 5 and 0.25 keep at most 3", () => {
  const plan = compacts(
    planned(open(alternating(4, 250)), {
      trigger: [fraction(0.85)],
      keep: [messages(5), fraction(0.25)],
      window: 2000,
    }),
  );
  assert.ok((plan.cut?.kept ?? 9) <= 3);
});

test("the trigger fires at its value, not only above it", () => {
  const policy = { trigger: [messages(10)], keep: messages(4) };
  assert.equal(planned(open(alternating(5)), policy).kind, "compact");
  assert.deepEqual(reasonOf(planned(open(alternating(5).slice(1)), policy)), "below-trigger");
});

test("a token promise keeps at least that much, counted back from the last message", () => {
  const thread = open(alternating(50, 100));
  const plan = compacts(planned(thread, { trigger: [tokens(8000)], keep: tokens(3000) }));
  const tail = thread.messages.slice(plan.cut!.tail);
  const kept = tail.reduce((sum, message) => sum + thread.measure.message(message), 0);
  assert.ok(kept >= 3000 && kept < 3000 + 220, `kept ${kept}`);
});

test("[F15] one long turn is cut between its tool groups and the request stands verbatim", () => {
  const request = user("Rename the option everywhere, but never touch the tests.");
  const groups = Array.from({ length: 60 }, (_, i) => [call(`c${i}`), result(`c${i}`, words(100, i))]).flat();
  const thread = open([request, ...groups]);
  const plan = compacts(planned(thread, { trigger: [tokens(6000)], keep: messages(10) }));
  const after = thread.after(plan);
  assert.equal(plan.cut?.request, 1);
  assert.deepEqual(after.map(shape.role).slice(0, 4), ["user", "assistant", "user", "assistant"]);
  assert.equal(after[2], request);
  assert.deepEqual(after.slice(3), groups.slice(-10));
});

test("[F13] parallel calls and their results stay on one side of the cut", () => {
  const ids = ["a", "b", "c", "d", "e"];
  const turn = (n: number) => [
    user(words(60, n)),
    call(...ids),
    ...ids.map((id) => result(id, words(60, n))),
    ai("done"),
  ];
  const all = Array.from({ length: 12 }, (_, n) => turn(n)).flat();
  for (let keep = 1; keep < 40; keep++) {
    const plan = compacts(planned(open(all), { trigger: [messages(90)], keep: messages(keep) }));
    assert.notEqual(shape.role(all[plan.cut!.tail]!), "tool");
  }
});

test("[F16] few but huge messages are clamped into the window", () => {
  const thread = open([user("Look at this"), ai("Go on"), user(words(40_000))]);
  const plan = compacts(planned(thread, { window: 8000 }));
  assert.ok(plan.entries.length > 0);
  assert.ok(thread.size(plan) <= 7000, `${thread.size(plan)}`);
});

test("a long request keeps at least a quarter of the window, whatever it is", () => {
  const thread = open([user(words(40_000, 1)), ai("Go on"), user(words(40_000, 2))]);
  for (let window = 1000; window <= 24_000; window += 250) {
    const after = thread.after(compacts(planned(thread, { window })));
    const longest = Math.max(...after.map((message) => thread.measure.message(message)));
    assert.ok(longest >= 0.25 * window, `${longest} of ${window}`);
  }
});

test("[F18] the current request stands after any compaction", () => {
  const asked = user("and now the current request");
  for (const keep of [messages(1), [messages(1)], [tokens(1)], tokens(1)]) {
    const thread = open([...alternating(30, 100), asked]);
    const after = thread.after(compacts(planned(thread, { trigger: [messages(20)], keep })));
    assert.equal(after.at(-1), asked);
  }
});

test("300 parallel calls in a 4k window collapse into the request and a digest", () => {
  const ids = Array.from({ length: 300 }, (_, i) => `call_${i}`);
  const request = user("Read all three hundred files");
  const thread = open([request, call(...ids), ...ids.map((id) => result(id, words(50)))]);
  const plan = compacts(planned(thread, { window: 4000 }));
  assert.notEqual(plan.cut?.digestTokens, null);
  assert.ok(thread.size(plan) <= 3500);
  assert.equal(shape.role(thread.after(plan).at(-1)!), "user");
});

test("a collapse promises the acknowledgement, the request, the summary and the digest, and nothing more", () => {
  const ids = Array.from({ length: 300 }, (_, i) => `call_${i}`);
  const request = user("Read all three hundred files");
  const thread = open([request, call(...ids), ...ids.map((id) => result(id, words(50)))]);
  const { cut, tokensAfter } = compacts(planned(thread, { window: 4000 }));
  const standing = [ai(ACKNOWLEDGEMENT), request].reduce((sum, each) => sum + thread.measure.message(each), 0);
  assert.equal(tokensAfter, standing + cut!.summaryTokens + cut!.digestTokens!);
});

test("[F32] a floor above the window is named part by part, without a loop", () => {
  const plan = planned(open([user("hi")]), { window: 2000, fixed: 1800 });
  assert.equal(plan.kind, "impossible");
  assert.ok(plan.kind === "impossible" && plan.floor.total > plan.floor.window && plan.floor.fixed === 1800);
});

test("[F17] a hidden system message is hoisted", () => {
  const system: OpenAiMessage = { role: "system", content: "Never delete files." };
  const thread = open([...alternating(5), system, ...alternating(20)]);
  const plan = compacts(planned(thread, { trigger: [messages(50)], keep: messages(20) }));
  assert.deepEqual(plan.cut?.systems, [11]);
  assert.equal(thread.after(plan)[0], system);
});

test("[F30] what is less than a summary of it is not hidden to make room: the plan would promise more than it holds", () => {
  const system: OpenAiMessage = { role: "system", content: words(2580) };
  const groups = [20, 20, 20, 20].flatMap((size, i) => [call(`c${i}`), result(`c${i}`, words(size))]);
  for (const before of [[system], [system, user("hi"), ai("ok")]]) {
    const thread = open([...before, user(words(780)), ...groups]);
    const plan = compacts(planned(thread, { window: 4000, summaryFormat: "user" }));
    assert.equal(plan.cut, null);
    assert.ok(thread.size(plan) < plan.tokensBefore && thread.size(plan) <= 3500, `${thread.size(plan)}`);
  }
});

test("a request that stands verbatim is not what a summary replaces: the room for one is measured without it", () => {
  const groups = Array.from({ length: 20 }, (_, i) => [call(`c${i}`), result(`c${i}`, words(20, i))]).flat();
  const thread = open([user(words(1600)), ...groups]);
  const plan = compacts(planned(thread, { trigger: [messages(30)], keep: messages(20) }));
  assert.deepEqual([plan.cut?.request, plan.cut?.kept, plan.entries], [1, 20, []]);
  assert.ok(plan.tokensAfter < plan.tokensBefore && thread.size(plan) <= plan.tokensAfter);
});

for (const value of [1000, 2000, 3000, 3400]) {
  test(`a promise of ${value} of 4000 tokens is kept: the summary takes what is left below the trigger`, () => {
    const thread = open(alternating(40, 60));
    const plan = compacts(
      planned(thread, { trigger: [tokens(4000)], keep: tokens(value), window: 200_000, fixed: 2500 }),
    );
    const kept = thread.messages.slice(plan.cut!.tail).reduce((sum, each) => sum + thread.measure.message(each), 0);
    assert.ok(kept >= value && kept < value + 130, `${kept} kept`);
    assert.ok(plan.tokensAfter - 2500 < 4000, `${plan.tokensAfter - 2500} after`);
  });
}

test("where the summary that was written leaves no room, keep gives way by no more than it must, and the plan says so", () => {
  const thread = open(alternating(40, 60));
  const policy = { trigger: [tokens(4000)], keep: tokens(3700), window: 200_000 };
  const first = compacts(planned(thread, policy));
  assert.deepEqual([first.goal, first.maxTokens], ["keep", 3999]);
  const second = compacts(planned(thread, { ...policy, summaryTokens: 400 }));
  assert.equal(second.goal, "less");
  assert.ok(second.cut!.kept >= 30 && second.tokensAfter <= 3600, `${second.cut!.kept} ${second.tokensAfter}`);
});

test("[F30] no new attempt before the view has grown by the minimum gain, while it fits", () => {
  const policy = { trigger: [tokens(3000)], keep: messages(20), window: 32_000 };
  const after = (said: number): Plan =>
    planned(open(alternating(20, 100)), { ...policy, grown: { tokens: said, messages: 2 } });
  assert.equal(reasonOf(after(299)), "waiting");
  assert.equal(after(300).kind, "compact");
});

test("a keep at or over the trigger gives way instead of looping", () => {
  const plan = compacts(planned(open(alternating(25)), { trigger: [messages(30)], keep: messages(40) }));
  assert.ok(plan.cut!.kept + 2 < 30);
});

test("a manual compaction cuts whatever the size, and says so when there is nothing to cut", () => {
  const policy = { keep: messages(4), cause: "manual" as const };
  assert.equal(compacts(planned(open(alternating(10)), policy)).cut?.kept, 4);
  for (const few of [[], [user("hi")], [user("hi"), ai("hello")]]) {
    assert.equal(reasonOf(planned(open(few), policy)), "nothing-to-cut");
  }
});

test("messages that are shorter than any summary of them: what could be hidden would not shrink", () => {
  const few = Array.from({ length: 13 }, (_, n) => (n % 2 === 0 ? user("tell me more") : ai("here is more")));
  const policy = { trigger: [messages(12)], keep: messages(4) };
  assert.equal(reasonOf(planned(open(few), policy)), "no-shrink");
});

test("only system messages: nothing to cut", () => {
  const system: OpenAiMessage = { role: "system", content: "x" };
  assert.equal(reasonOf(planned(open([system, system]), { cause: "manual" })), "nothing-to-cut");
});

interface Options {
  readonly trigger?: readonly Threshold[];
  readonly keep?: Keep;
  readonly summaryFormat?: Policy["summaryFormat"];
  readonly window?: number;
  readonly fixed?: number;
  readonly cause?: "automatic" | "manual";
  readonly summaryTokens?: number;
  readonly grown?: { readonly tokens: number; readonly messages: number };
}

function planned(thread: ReturnType<typeof open>, options: Options): Plan {
  const window = options.window ?? 32_768;
  return planCompaction(plainPrompt(thread.view, shape, options.fixed ?? 0), {
    window: { size: window, reserve: Math.min(4096, Math.floor(window / 8)) },
    policy: {
      trigger: options.trigger ?? [fraction(0.85)],
      keep: options.keep ?? messages(20),
      lowWater: 0.6,
      minGain: 0.1,
      maxSummaryTokens: null,
      summaryFormat: options.summaryFormat ?? "pair",
    },
    cause: options.cause ?? "automatic",
    grown: options.grown ?? null,
    summaryTokens: options.summaryTokens ?? 0,
    prune: null,
  });
}

function compacts(plan: Plan): CompactPlan {
  assert.equal(plan.kind, "compact");
  return plan as CompactPlan;
}

function reasonOf(plan: Plan): string {
  return plan.kind === "none" ? plan.reason : plan.kind;
}

function messages(value: number): Threshold {
  return { type: "messages", value };
}
function tokens(value: number): Threshold {
  return { type: "tokens", value };
}
function fraction(value: number): Threshold {
  return { type: "fraction", value };
}

function open(all: readonly OpenAiMessage[]) {
  const bySeq = new Map(all.map((message, index) => [index + 1, message]));
  const read = (record: MessageRecord): OpenAiMessage => bySeq.get(record.seq)!;
  const measure = createMeter<OpenAiMessage>(shape, { counter: count });
  const live = all.reduce<LiveRecords>((folded, _, index) => liveAfter(folded, messageRecord(index + 1)), NOTHING_LIVE);
  const after = (plan: CompactPlan, format: Policy["summaryFormat"] = "pair"): OpenAiMessage[] => {
    const compaction = plan.cut === null ? live : liveAfter(live, compactionRecord(plan, all.length + 1, format));
    const pruned = liveAfter(compaction, pruneRecord(plan, all.length + 2));
    return view(pruned, { shape, read }).map((entry) => sent(entry, shape));
  };
  return {
    messages: all,
    measure,
    view: view(live, { shape, read }),
    after,
    size: (plan: CompactPlan) => measure.messages(after(plan)),
  };
}

const common = { v: 1, at: "2026-01-01T00:00:00.000Z", runId: null } as const;

function messageRecord(seq: number): MessageRecord {
  return {
    ...common,
    kind: "message",
    seq,
    id: `m${seq}`,
    dialect: "openai",
    origin: "import",
    body: "",
  };
}

function pruneRecord(plan: CompactPlan, seq: number): PruneRecord {
  return { ...common, kind: "prune", seq, entries: plan.entries, tokensBefore: 0, tokensAfter: 0 };
}

function compactionRecord(plan: CompactPlan, seq: number, format: Policy["summaryFormat"]): CompactionRecord {
  const { covers, request, systems, summaryTokens, digestTokens } = plan.cut!;
  return {
    ...common,
    kind: "compaction",
    seq,
    covers,
    folds: null,
    request,
    systems,
    summary: {
      format,
      text: "s".repeat((summaryTokens - 4) * 4),
      digest: digestTokens === null ? null : "d".repeat(digestTokens * 4),
      state: null,
    },
    rung: "extract",
    reason: "test",
    tokensBefore: plan.tokensBefore,
    tokensAfter: plan.tokensAfter,
    archive: null,
  };
}
