import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChainPlace } from "./match.ts";
import { type Findings, type MatchCandidate, match, type RequestFingerprint } from "./match.ts";

/** A conversation by letters: capitals are answers of ours. */
function places(letters: string): ChainPlace[] {
  return [...letters].map((letter, index) => ({
    hash: letters.slice(0, index + 1),
    answer: letter === letter.toUpperCase() ? letter : null,
  }));
}

function request(letters: string, given: Partial<RequestFingerprint> = {}): RequestFingerprint {
  return { places: places(letters), group: null, fixed: "f", sideCall: "no", ...given };
}

/** A thread that holds `letters`, found after the answer at `depth`. */
function candidate(letters: string, depth: number, given: Partial<MatchCandidate> = {}): MatchCandidate {
  const later = places(letters).slice(depth);
  const answered = later.findIndex(({ answer }) => answer !== null);
  return {
    threadId: letters,
    seq: depth,
    hash: letters.slice(0, depth),
    group: null,
    fixed: "f",
    version: 9,
    updatedAt: "2026-01-01T00:00:00.000Z",
    tail: answered === -1 ? later : later.slice(0, answered + 1),
    ...given,
  };
}

const NOTHING: Findings = { candidates: [], run: null, named: null, groupThread: null };
const found = (asked: RequestFingerprint, ...candidates: MatchCandidate[]) => match(asked, { ...NOTHING, candidates });

const ROWS: readonly (readonly [string, RequestFingerprint, Partial<Findings>, ReturnType<typeof match>])[] = [
  ["nothing is known of it", request("a"), {}, { kind: "new", parent: null }],
  [
    "the next turn",
    request("aBc"),
    { candidates: [candidate("aB", 2)] },
    { kind: "extended", thread: "aB", known: 2, instead: { at: 2, known: 2, version: 9 } },
  ],
  [
    "the same question again after its run failed",
    request("aBc"),
    { candidates: [candidate("aBc", 2)] },
    { kind: "extended", thread: "aBc", known: 3, instead: { at: 2, known: 2, version: 9 } },
  ],
  [
    "more was said after a run that failed",
    request("aBcd"),
    { candidates: [candidate("aBc", 2)] },
    { kind: "extended", thread: "aBc", known: 3, instead: { at: 2, known: 2, version: 9 } },
  ],
  [
    "another question instead of one that failed",
    request("aBd"),
    { candidates: [candidate("aBc", 2)] },
    { kind: "forked", thread: "aBc", at: 2, known: 2 },
  ],
  [
    "an earlier question was edited",
    request("aBe"),
    { candidates: [candidate("aBcD", 2)] },
    { kind: "forked", thread: "aBcD", at: 2, known: 2 },
  ],
  [
    "the last answer is asked for again",
    request("aBc"),
    { candidates: [candidate("aBcD", 2)] },
    { kind: "forked", thread: "aBcD", at: 2, known: 2 },
  ],
  [
    "a title call in a group that has a thread",
    request("t", { group: "g", sideCall: "likely" }),
    { groupThread: "long" },
    { kind: "passed", reason: "side-call" },
  ],
  [
    "the same call in a group that has none",
    request("t", { group: "g", sideCall: "likely" }),
    {},
    { kind: "new", parent: null },
  ],
  [
    "the client compacted itself: its parent is linked",
    request("sBc", { group: "g" }),
    { groupThread: "long" },
    { kind: "new", parent: "long" },
  ],
  [
    "the client cut its head off",
    request("cDe"),
    { run: { ...candidate("aBcD", 4), hash: "elsewhere", depth: 2 } },
    { kind: "extended", thread: "aBcD", known: 2, instead: { at: 4, known: 2, version: 9 } },
  ],
  [
    "only what is new, to a thread by name",
    request("x"),
    { named: "mine" },
    { kind: "extended", thread: "mine", known: 0, instead: null },
  ],
];

for (const [title, asked, findings, expected] of ROWS)
  test(`a request is matched: ${title}`, () => {
    assert.deepEqual(match(asked, { ...NOTHING, ...findings }), expected);
  });

test("the deepest place wins, whatever else speaks for another", () => {
  const shallow = candidate("aB", 2, { group: "g", threadId: "shallow", updatedAt: "2027-01-01T00:00:00.000Z" });
  const deep = candidate("aBcD", 4, { threadId: "deep", fixed: "other" });
  assert.deepEqual(found(request("aBcDe", { group: "g" }), shallow, deep), {
    kind: "extended",
    thread: "deep",
    known: 4,
    instead: { at: 4, known: 4, version: 9 },
  });
});

test("of several at one place: the same group, then one that ends there, then the same system and tools, then the newest", () => {
  const asked = request("aBc", { group: "g" });
  const newest = candidate("aB", 2, { threadId: "newest", fixed: "other", updatedAt: "2027-01-01T00:00:00.000Z" });
  const same = candidate("aB", 2, { threadId: "same-fixed" });
  const newer = candidate("aB", 2, { threadId: "newer", updatedAt: "2026-06-01T00:00:00.000Z" });
  const goesOn = candidate("aBxY", 2, { threadId: "goes-on", updatedAt: "2027-01-01T00:00:00.000Z" });
  const own = candidate("aBxY", 2, { threadId: "group", group: "g" });
  const thread = (...candidates: MatchCandidate[]) => (found(asked, ...candidates) as { thread: string }).thread;
  assert.equal(thread(newest, same), "same-fixed");
  assert.equal(thread(same, newer), "newer");
  assert.equal(thread(goesOn, newest), "newest");
  assert.equal(thread(same, own, newest), "group");
});
