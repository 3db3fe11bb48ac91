/** Whether one store holds what another one does, record for record. */
import assert from "node:assert/strict";
import { collect } from "@palimpsest/testing/internal/kit";
import type { Store } from "../../src/stores/store.ts";
import { rebuildHead, verify } from "../../src/thread/audit.ts";
import { threadDeps } from "../../src/thread/writer.ts";

export const NOT_COPIED = { copied: 0, present: 0, failed: [] };

export async function assertSame(from: Store, to: Store): Promise<void> {
  const [a, b] = [await from.threads({ limit: 100 }), await to.threads({ limit: 100 })];
  assert.deepEqual(b.threads, a.threads);
  for (const { header } of a.threads) {
    const read = async (store: Store) =>
      (await collect(store.records(header.id))).map(({ chained, redacted }) => ({ chained, redacted }));
    assert.deepEqual(await read(to), await read(from));
    assert.deepEqual(await to.head(header.id), await from.head(header.id));
    assert.equal((await verify(threadDeps(to), header.id)).kind, "whole");
    assert.equal((await rebuildHead(threadDeps(to), header.id)).kind, "equal");
  }
}
