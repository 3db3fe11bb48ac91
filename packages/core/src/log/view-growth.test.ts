import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type openaiShape, shapeOf } from "../message/index.ts";
import { liveAfter, NOTHING_LIVE } from "./live.ts";
import type { LogRecord } from "./record.ts";
import { view } from "./view.ts";
import { type Folded, viewAfter } from "./view-growth.ts";

type Step = "user" | "assistant" | "system" | "evidence" | "prune" | "compaction" | "state";
const step = fc.constantFrom<Step>("user", "assistant", "user", "system", "evidence", "prune", "compaction", "state");

test("a view folded on from the one before it is the view folded at once, whatever was appended", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.constantFrom("pair" as const, "user" as const, "system" as const),
      fc.nat(),
      (steps, format, pick) => {
        const shape = shapeOf("openai");
        const read = ({ body }: { readonly body: string }) => JSON.parse(body);
        const messages: number[] = [];
        let live = NOTHING_LIVE;
        let before: Folded<Parameters<typeof openaiShape.role>[0]> = { live, entries: [] };
        for (const [index, kind] of steps.entries()) {
          const record = recordOf(kind, index + 1, { messages, format, pick });
          if (record === null) continue;
          if (record.kind === "message") messages.push(record.seq);
          live = liveAfter(live, record as Exclude<LogRecord, { kind: "undo" }>);
          const entries = viewAfter(before, live, { shape, read });
          assert.deepEqual(entries, view(live, { shape, read }));
          before = { live, entries };
        }
      },
    ),
    { numRuns: 500 },
  );
});

interface Given {
  readonly messages: readonly number[];
  readonly format: "pair" | "user" | "system";
  readonly pick: number;
}

function recordOf(kind: Step, seq: number, { messages, format, pick }: Given): LogRecord | null {
  const stamp = { v: 2, seq, at: "2026-01-01T00:00:00.000Z", runId: null } as const;
  const one = messages[pick % Math.max(1, messages.length)] ?? 0;
  if (kind === "state") return { ...stamp, kind, patch: {} };
  if (kind === "user" || kind === "assistant" || kind === "system") {
    const body = JSON.stringify({ role: kind, content: `${kind} ${seq}` });
    return { ...stamp, kind: "message", id: `m${seq}`, dialect: "openai", origin: "user", body };
  }
  if (messages.length === 0) return null;
  // Evidence is added to a user's turn, which the newest message need not be.
  if (kind === "evidence") return { ...stamp, kind, of: one, text: `of use ${seq}`, ids: [], hash: "" };
  if (kind === "prune") {
    const entries = [{ target: one, part: 0, replacement: `cut ${seq}`, reason: "clamped" as const }];
    return { ...stamp, kind, entries, tokensBefore: 0, tokensAfter: 0 };
  }
  const last = messages[Math.floor((messages.length - 1) / 2)]!;
  const summary = { format, text: `summary ${seq}`, digest: pick % 2 === 0 ? "open calls" : null, state: null };
  return {
    ...stamp,
    kind: "compaction",
    covers: [1, last],
    folds: null,
    request: pick % 3 === 0 ? last : null,
    systems: [],
    summary,
    rung: "extract",
    reason: "manual",
    tokensBefore: 0,
    tokensAfter: 0,
    archive: null,
  };
}
