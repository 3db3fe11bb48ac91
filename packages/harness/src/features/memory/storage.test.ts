import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { emptyDocument, type MemoryDocument } from "@palimpsest/core/internal/memory";
import { bothEngines } from "@palimpsest/testing/internal/both-engines";
import { openStore } from "../../stores/open.ts";
import { customStorage, openStorage, storeStorage } from "./create-memory.ts";
import { fileStorage } from "./file-storage.ts";
import { checkScope, type MemoryScope, memoryPath, openRepository } from "./repository.ts";
import { memoryService } from "./service.ts";
import type { MemoryStorage, MemoryStorageError } from "./storage.ts";

const engines = bothEngines();
const { folder } = engines;

const OWN: MemoryScope = { userId: "default", agentName: null };
const CODER: MemoryScope = { userId: "default", agentName: "coder" };
const ANN: MemoryScope = { userId: "ann", agentName: null };
let count = 0;

test("a database that is named as the memory's file stays where it is", async () => {
  const base = mkdtempSync(join(folder, "database-"));
  const database = await openStore(join(base, "palimpsest.db"));
  await database.close();
  const storage = fileStorage({ base, storagePath: "palimpsest.db" });
  await assert.rejects(storage.load(OWN), { code: "corrupt", message: /is a database, not a memory/ });
  assert.ok(existsSync(join(base, "palimpsest.db")));
});

for (const kind of ["file", "sqlite", "postgres"] as const) {
  describe(`memory in ${kind}`, () => {
    /** Two openings of the same place. */
    const open = async () => {
      count += 1;
      const base = join(folder, `${count}`);
      const place = engines.fresh(kind === "postgres" ? "PostgreSQL" : "SQLite");
      const stores = kind === "file" ? [] : [await openStore(place), await openStore(place)];
      const one = (at: number): MemoryStorage =>
        kind === "file" ? fileStorage({ base, storagePath: "memory.json" }) : storeStorage(stores[at]!, kind);
      const close = async () => {
        for (const store of stores) await store.close();
      };
      return { first: one(0), second: one(1), close };
    };

    test("a document is read once while it stands, and anew when somebody else has saved it", async () => {
      const { first, second, close } = await open();
      await first.save(named("one", 1), { scope: OWN, expectRevision: 0 });
      const known = await second.load(OWN);
      assert.equal(await second.load(OWN), known);
      await first.save(named("two", 2), { scope: OWN, expectRevision: 1 });
      assert.deepEqual(await second.load(OWN), named("two", 2));
      await close();
    });

    test("a document is read back as it was saved, by others too, and nobody else's", async () => {
      const { first, second, close } = await open();
      assert.equal(await first.load(OWN), null);
      const document = named("Ümlaut \u{1f600} \u0000-less", 1);
      assert.deepEqual(await first.save(document, { scope: OWN, expectRevision: 0 }), { kind: "saved" });
      for (const storage of [first, second]) {
        assert.deepEqual(await storage.load(OWN), document);
        assert.deepEqual(await storage.reload(OWN), document);
        for (const other of [CODER, ANN, { userId: "ann", agentName: "coder" }])
          assert.equal(await storage.load(other), null);
      }
      await close();
    });

    test("[F52] a save over something newer is a conflict and changes nothing; another's save is seen", async () => {
      const { first, second, close } = await open();
      await first.save(named("one", 1), { scope: OWN, expectRevision: 0 });
      assert.deepEqual(await second.save(named("lost", 1), { scope: OWN, expectRevision: 0 }), { kind: "conflict" });
      assert.equal((await second.load(OWN))!.userContext.workContext, "one");
      assert.deepEqual(await second.save(named("two", 2), { scope: OWN, expectRevision: 1 }), { kind: "saved" });
      assert.equal((await first.load(OWN))!.userContext.workContext, "two");
      assert.deepEqual(await first.save(named("late", 2), { scope: OWN, expectRevision: 1 }), { kind: "conflict" });
      assert.deepEqual(await first.save(named("none", 6), { scope: ANN, expectRevision: 5 }), { kind: "conflict" });
      await close();
    });

    test("an agent without a memory reads the user's, and its first save makes a copy of its own", async () => {
      const { first, close } = await open();
      const service = serviceOn(first);
      await service.add(OWN, { content: "User likes tea" });
      assert.equal((await service.show(CODER)).facts[0]!.content, "User likes tea");
      await service.add(CODER, { content: "User writes Rust" });
      const copy = await service.show(CODER);
      assert.deepEqual([copy.facts.length, copy.copiedFrom, copy.revision], [2, "global", 1]);
      assert.equal((await service.show(OWN)).facts.length, 1);
      assert.equal((await service.show({ userId: "ann", agentName: "coder" })).facts.length, 0);
      await close();
    });
  });
}

describe("memory files", () => {
  const fresh = () => {
    count += 1;
    const base = join(folder, `files-${count}`);
    return { base, path: join(base, "memory.json"), storage: fileStorage({ base, storagePath: "memory.json" }) };
  };

  test("an empty, half-written or foreign file is moved aside and reported, never taken for empty", async () => {
    for (const text of ["", '{"userContext": {"work', "[]"]) {
      const { base, path, storage } = fresh();
      await storage.save(named("x", 1), { scope: OWN, expectRevision: 0 });
      writeFileSync(path, text);
      await assert.rejects(storage.load(OWN), (error: MemoryStorageError) => {
        assert.equal(error.code, "corrupt");
        assert.match(error.message, /moved to .*memory\.json\.corrupt-/);
        return true;
      });
      const aside = readdirSync(base).find((name) => name.includes(".corrupt-"))!;
      assert.equal(readFileSync(join(base, aside), "utf8"), text);
      assert.equal(existsSync(path), false);
    }
  });

  test("on a full disk the old document stays whole and no half file is left", async () => {
    const { base, path, storage } = fresh();
    await storage.save(named("old", 1), { scope: OWN, expectRevision: 0 });
    const full = fileStorage({
      base,
      storagePath: "memory.json",
      writeNew: async (to, text) => {
        writeFileSync(to, text.slice(0, 20));
        throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
      },
    });
    await assert.rejects(full.save(named("new", 2), { scope: OWN, expectRevision: 1 }), { code: "full" });
    assert.equal(JSON.parse(readFileSync(path, "utf8")).userContext.workContext, "old");
    assert.deepEqual(
      readdirSync(base).filter((name) => name.endsWith(".tmp")),
      [],
    );
  });

  test("a place that can't be written says so", async () => {
    const { base } = fresh();
    writeFileSync(base, "a file where the folder should be");
    const storage = fileStorage({ base, storagePath: "memory.json" });
    await assert.rejects(storage.save(named("x", 1), { scope: OWN, expectRevision: 0 }), { code: "unwritable" });
  });

  test("a change by another tool that left our revision alone is a conflict, and is kept", async () => {
    const { path, storage } = fresh();
    await storage.save(named("ours", 1), { scope: OWN, expectRevision: 0 });
    await storage.load(OWN);
    const theirs = { ...JSON.parse(readFileSync(path, "utf8")), facts: [{ id: "a", content: "Added by hand" }] };
    writeFileSync(path, JSON.stringify(theirs));
    assert.deepEqual(await storage.save(named("late", 2), { scope: OWN, expectRevision: 1 }), { kind: "conflict" });
    await serviceOn(storage).add(OWN, { content: "User likes tea" });
    assert.deepEqual(
      (await storage.load(OWN))!.facts.map(({ content }) => content),
      ["Added by hand", "User likes tea"],
    );
  });

  test("a clock that runs backwards loses nothing", async () => {
    const { storage } = fresh();
    let now = Date.UTC(2026, 5, 1);
    let next = 0;
    const clock = () => {
      now -= 86_400_000;
      return new Date(now);
    };
    const service = memoryService({ repository: openRepository(storage, clock), clock, ids: () => `f${++next}` });
    for (const name of ["tea", "jazz", "rye"]) await service.add(OWN, { content: `User likes ${name}` });
    assert.deepEqual(
      (await service.show(OWN)).facts.map(({ id }) => id),
      ["f1", "f2", "f3"],
    );
    await service.undo(OWN);
    assert.deepEqual(
      (await service.show(OWN)).facts.map(({ id }) => id),
      ["f1", "f2"],
    );
  });

  test("paths follow user and agent; an absolute storage path is taken as it is", () => {
    const place = { base: "/b", storagePath: "memory.json" };
    assert.equal(memoryPath(OWN, place), "/b/memory.json");
    assert.equal(memoryPath(CODER, place), "/b/agents/coder/memory.json");
    assert.equal(memoryPath(ANN, place), "/b/users/ann/memory.json");
    assert.equal(memoryPath({ userId: "ann", agentName: "coder" }, place), "/b/users/ann/agents/coder/memory.json");
    assert.equal(memoryPath(OWN, { base: "/b", storagePath: "sub/m.json" }), "/b/sub/m.json");
    assert.equal(memoryPath(OWN, { base: "/b", storagePath: "/x/m.json" }), "/x/m.json");
  });
});

test("[F38] an agent's name that could leave its folder or meet another's is refused, a user's is kept as it is", () => {
  for (const name of [
    "../x",
    "CON",
    "con",
    "lpt1",
    "",
    "a".repeat(65),
    "a/b",
    "a.b",
    ".hidden",
    "-x",
    "a b",
    "\u00fc",
  ]) {
    assert.equal(checkScope("default", name).kind, "invalid", name);
  }
  assert.deepEqual(checkScope("Ann", "Coder"), { kind: "scope", scope: { userId: "Ann", agentName: "coder" } });
  assert.deepEqual(checkScope("default", "default"), { kind: "scope", scope: OWN });
  for (const userId of ["auth0|123", "ann@example.org", "../x", "CON", "a".repeat(500)])
    assert.deepEqual(checkScope(userId), { kind: "scope", scope: { userId, agentName: null } });
  assert.equal(checkScope("").kind, "invalid");
});

test("storage_class: the documented class name is the file storage, and what can't be loaded falls back with an error", async () => {
  const base = join(folder, "classes");
  const errors: string[] = [];
  const open = (storageClass: string) =>
    openStorage({ base, storagePath: "memory.json", storageClass, onError: (said) => errors.push(said) });
  for (const name of ["file", "deerflow.agents.memory.storage.FileMemoryStorage"]) {
    assert.equal((await open(name)).place(OWN), join(base, "memory.json"));
  }
  assert.deepEqual(errors, []);
  for (const name of ["mypackage.storage.RedisMemoryStorage", "./missing.js#Nope", "sqlite"]) {
    assert.equal((await open(name)).place(OWN), join(base, "memory.json"));
    assert.match(errors.at(-1)!, new RegExp(`"${name.replace(/[.]/g, "\\.")}" can't be loaded`));
  }
});

test("storage_class: a class of one's own with only the three methods works, and none of twenty adds is lost", async () => {
  const base = mkdtempSync(join(folder, "own-"));
  writeFileSync(
    join(base, "own.mjs"),
    `export class Mine {
      documents = new Map();
      load(agent) { return this.documents.get(agent) ?? null; }
      reload(agent) { return this.load(agent); }
      async save(document, agent) { await null; this.documents.set(agent, structuredClone(document)); }
    }`,
  );
  const storage = await openStorage({
    base,
    storagePath: "memory.json",
    storageClass: "./own.mjs#Mine",
    onError: assert.fail,
  });
  const service = serviceOn(storage);
  await Promise.all(Array.from({ length: 20 }, (_, i) => service.add(OWN, { content: `User owns item${i}` })));
  assert.equal((await service.show(OWN)).facts.length, 20);
  assert.equal(existsSync(join(base, "memory.json")), false);
  const broken = customStorage({ load: () => 7, reload: () => 7, save: () => false }, "broken");
  await assert.rejects(broken.load(OWN), { code: "corrupt" });
});

function named(workContext: string, revision: number): MemoryDocument {
  return { ...emptyDocument(), userContext: { workContext, personalContext: "", topOfMind: "" }, revision };
}

function serviceOn(storage: MemoryStorage) {
  const clock = () => new Date("2026-11-15T10:00:00Z");
  return memoryService({ repository: openRepository(storage, clock), clock, ids: () => crypto.randomUUID() });
}
