/**
 * Any sequence of what people do to threads, as a property: after each one every log verifies, every head equals its
 * fold, and replay shows what was said. Shared by the test and its long variant.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { planRedo, planUndo } from "@palimpsest/core/internal/log";
import { assertSound, collect, compact, lease, prune, steppingDeps } from "@palimpsest/testing/internal/kit";
import fc from "fast-check";
import { openSqlite } from "../../src/stores/sqlite.ts";
import type { Store } from "../../src/stores/store.ts";
import { appendMessages, appendUsage, fork, pin, redo, undo } from "../../src/thread/acts.ts";
import { replay } from "../../src/thread/audit.ts";
import { redact } from "../../src/thread/redact.ts";
import { readStructure, structureForRedo, structureForUndo } from "../../src/thread/structure.ts";
import { commit, createThread, type ThreadDeps, type Writer } from "../../src/thread/writer.ts";

type Act =
  | { readonly kind: "say"; readonly texts: readonly string[] }
  | {
      readonly kind: "prune" | "pin" | "unpin" | "redact" | "undo-at" | "fork" | "compact" | "evidence";
      readonly at: number;
    }
  | { readonly kind: "undo" | "redo" | "usage" | "event" | "delete-parent" }
  | { readonly kind: "state"; readonly patch: Readonly<Record<string, unknown>> };

/** `at` and `thread` are shares: they pick among what is there when the act's turn comes. */
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("say" as const),
      texts: fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("prune", "pin", "unpin", "redact", "undo-at", "fork", "compact", "evidence"),
      at: share,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom("undo", "undo", "redo", "redo", "usage", "event", "delete-parent") }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("state" as const),
      patch: fc.dictionary(
        fc.constantFrom("title", "artifacts", "todos"),
        fc.constantFrom<unknown>(null, "x", ["a"], ["b", "a"]),
      ),
    }),
  },
);

export async function checkAnySequence(numRuns: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-property-"));
  const store = openSqlite({ path: join(folder, "log.db") });
  let run = 0;
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(share, act), { minLength: 1, maxLength: 30 }), async (acts) => {
        run += 1;
        await playOut(store, `run-${run}`, acts);
      }),
      { numRuns },
    );
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

async function playOut(store: Store, name: string, acts: readonly (readonly [number, Act])[]): Promise<void> {
  const deps = steppingDeps(store);
  await createThread(deps, { id: `${name}-0` });
  /** What each thread was told, by seq; an erased message is null. */
  const said = new Map<string, Map<number, string | null>>([[`${name}-0`, new Map()]]);
  for (const [step, [which, one]] of acts.entries()) {
    const threadId = [...said.keys()][Math.floor(which * said.size)]!;
    await carryOut(deps, threadId, one, said, `${name}-${step + 1}`);
    for (const [id, expected] of said) {
      await assertSound(deps, id);
      await assertPlansAsWithAll(store, id);
      const found = await collect(replay(deps, id));
      assert.deepEqual(
        found.map(({ seq }) => seq),
        [...expected.keys()],
      );
      for (const { seq, body } of found) if (expected.get(seq) !== null) assert.equal(body, expected.get(seq));
    }
  }
}

/** An undo or redo that has read only what it needs decides as one that has read everything. */
async function assertPlansAsWithAll(store: Store, threadId: string): Promise<void> {
  const [head, all] = [(await store.head(threadId))!, await readStructure(store, threadId)];
  assert.deepEqual(planUndo(await structureForUndo(store, threadId, head)), planUndo(all));
  assert.deepEqual(planRedo(await structureForRedo(store, threadId, head)), planRedo(all));
}

type Said = Map<string, Map<number, string | null>>;

async function carryOut(deps: ThreadDeps, threadId: string, one: Act, said: Said, next: string): Promise<void> {
  const messages = [...said.get(threadId)!.keys()];
  const pick = (at: number) => messages[Math.floor(at * messages.length)];
  const writer: Writer = { ...deps, lease: await lease(deps.store, threadId) };
  switch (one.kind) {
    case "say": {
      const bodies = one.texts.map((content) => JSON.stringify({ role: "user", content }));
      const result = await appendMessages(
        writer,
        bodies.map((body) => ({ dialect: "openai", origin: "user", body })),
      );
      assert.equal(result.kind, "committed");
      for (const [index, body] of bodies.entries())
        said.get(threadId)!.set(result.kind === "committed" ? result.seqs[index]! : 0, body);
      break;
    }
    case "state":
      await commit(writer, [{ kind: "state", patch: one.patch }]);
      break;
    case "event":
      await commit(writer, [{ kind: "event", event: { type: "noted" } }]);
      break;
    case "usage":
      await appendUsage(writer, usage);
      break;
    case "undo":
      await undo(writer);
      break;
    case "redo":
      await redo(writer);
      break;
    case "undo-at":
      await undo(writer, Math.ceil(one.at * (await deps.store.head(threadId))!.version));
      break;
    case "delete-parent":
      await deleteParent(deps, writer, said);
      break;
    default: {
      const target = pick(one.at);
      if (target !== undefined) await onMessage(writer, one.kind, target, said, next);
    }
  }
  await deps.store.releaseLease(writer.lease);
}

const usage = {
  of: 1,
  model: "m",
  measured: { compaction: null, prune: null, promptHash: null },
  input: 5,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  factor: 1.25,
};

async function onMessage(writer: Writer, kind: string, target: number, said: Said, next: string): Promise<void> {
  const { threadId } = writer.lease;
  const head = (await writer.store.head(threadId))!;
  if (kind === "prune") await prune(writer, target);
  if (kind === "pin" || kind === "unpin") await pin(writer, target, kind === "pin" ? "on" : "off");
  if (kind === "evidence") await commit(writer, [{ kind: "evidence", of: target, text: "lent", ids: [], hash: "h" }]);
  if (kind === "compact" && target > head.hiddenThrough)
    await compact(writer, { covers: [head.hiddenThrough + 1, target], folds: head.compaction });
  if (kind === "fork") {
    assert.equal((await fork(writer, threadId, { as: next, at: target })).kind, "forked");
    said.set(next, new Map([...said.get(threadId)!].filter(([seq]) => seq <= target)));
  }
  if (kind === "redact") {
    await writer.store.releaseLease(writer.lease);
    const sharers = await writer.store.sharers(threadId, target);
    const result = await redact(writer, threadId, target);
    assert.match(result.kind, /^(already-)?redacted$/);
    for (const sharer of sharers) said.get(sharer)!.set(target, null);
  }
}

async function deleteParent(deps: ThreadDeps, writer: Writer, said: Said): Promise<void> {
  const parent = (await deps.store.header(writer.lease.threadId))?.parent;
  if (!parent) return;
  assert.equal(await deps.store.deleteThread(parent), "deleted");
  said.delete(parent);
}
