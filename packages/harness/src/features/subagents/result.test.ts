import assert from "node:assert/strict";
import { test } from "node:test";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import fc from "fast-check";
import { exactCounter } from "../../models/tokenizers.ts";
import { bounded } from "./result.ts";

const usage = { input: 123456, output: 7890, cacheRead: 0, cacheWrite: 0 };
const threadId = "subagent-0b8e5f0a-5a51-4a53-8a0e-2f1a3f0b8c11";

test("[F73] whatever a child says and presents, its result is within the bound and says where the rest is", async () => {
  const exact = await exactCounter("o200k_base");
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 30 }),
      fc.nat(400),
      fc.nat(200),
      fc.constantFrom(exact, charsPerToken(4)),
      (piece, times, files, count) => {
        const output = piece.repeat(times);
        const artifacts = Array.from({ length: files }, (_, index) => `/mnt/user-data/outputs/file-${index}.txt`);
        const result = { status: "completed", output, artifacts, usage, threadId } as const;
        const kept = bounded(result, { tokens: 400, count, pointer: `thread ${threadId}` });
        assert.ok(count(JSON.stringify(kept)) <= 400);
        if (kept.output !== output) assert.match(kept.output, /the whole answer is in thread subagent-/);
        assert.ok(kept.output.isWellFormed() || !output.isWellFormed());
      },
    ),
    { numRuns: 100 },
  );
});
