// Everything the command writes is its owner's alone, whatever the umask, through the real binary.
import assert from "node:assert/strict";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { desk, palimpsest } from "../test/binary.ts";
import { exchanges, importMessages } from "../test/conversations.ts";

let umask: number;
before(() => {
  umask = process.umask(0);
});
after(() => process.umask(umask));

test("a home, its database, part files, memory, uploads and forks can't be read by others", async (t) => {
  const at = desk(t);
  await importMessages(at, "a", exchanges(30));
  assert.equal((await at.run("compact", "a", "--window", "3000")).code, 0);
  assert.equal((await at.run("run", "I live in Oslo.", "--thread", "a")).code, 0);
  const upload = at.file("notes.txt", "notes");
  chmodSync(upload, 0o644);
  assert.equal((await at.piped([`/upload ${upload}`, "thanks"], "chat", "--thread", "a")).code, 0);
  assert.equal((await at.run("memory", "add", "User likes tea")).code, 0);
  assert.equal((await at.run("fork", "a", "--at", "20", "--as", "b")).code, 0);
  const paths = everything(at.home);
  for (const part of [/palimpsest\.db$/, /part-.*\.jsonl$/, /memory\.json$/, /b\/uploads\/notes\.txt$/, /\.gitignore$/])
    assert.ok(
      paths.some((path) => part.test(path)),
      `${part} was written`,
    );
  assert.deepEqual(paths.filter(isOpen), []);
  const parts = paths.filter((path) => /part-.*\.jsonl$/.test(path));
  assert.deepEqual([...new Set(parts.map((path) => lstatSync(path).mode & 0o777))], [0o400]);
});

test("an older home that is ours is closed when it is used; a directory used for other things keeps its mode", async (t) => {
  const at = desk(t);
  const home = at.file("p/.palimpsest");
  const run = (place: string) =>
    palimpsest(["import", at.file("m.jsonl", '{"role":"user","content":"x"}'), "--thread", "a"], {
      PALIMPSEST_HOME: place,
      XDG_STATE_HOME: at.file("state"),
    });
  assert.equal((await run(home)).code, 0);
  chmodSync(home, 0o755);
  chmodSync(join(home, "palimpsest.db"), 0o644);
  assert.equal((await palimpsest(["threads"], { PALIMPSEST_HOME: home })).code, 0);
  assert.deepEqual(everything(home).filter(isOpen), []);
  const shared = at.file("shared");
  mkdirSync(shared, { mode: 0o755 });
  assert.equal((await run(shared)).code, 0);
  chmodSync(join(shared, "palimpsest.db"), 0o644);
  assert.equal((await palimpsest(["threads"], { PALIMPSEST_HOME: shared })).code, 0);
  assert.equal(lstatSync(shared).mode & 0o777, 0o755);
  assert.ok(!existsSync(join(shared, ".gitignore")));
  assert.ok(!isOpen(join(shared, "palimpsest.db")));
});

test("compiled code is not kept in the shared temporary folder", async (t) => {
  const at = desk(t);
  const temporary = at.file("tmp");
  mkdirSync(temporary);
  const places = { TMPDIR: temporary, XDG_CACHE_HOME: at.file("cache"), PALIMPSEST_HOME: at.home };
  const env = { ...places, NODE_COMPILE_CACHE: "" };
  assert.equal((await palimpsest(["threads"], env)).code, 0);
  assert.deepEqual(readdirSync(temporary), []);
  assert.deepEqual([isOpen(at.file("cache/palimpsest")), temporary.startsWith(tmpdir())], [false, true]);
});

function everything(folder: string): string[] {
  const inside = readdirSync(folder, { recursive: true, withFileTypes: true });
  return [folder, ...inside.map((entry) => join(entry.parentPath, entry.name))];
}

function isOpen(path: string): boolean {
  return (lstatSync(path).mode & 0o077) !== 0;
}
