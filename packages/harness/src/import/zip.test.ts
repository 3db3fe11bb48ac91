import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { crc32, deflateRawSync } from "node:zlib";
import { openSqlite } from "../stores/index.ts";
import { threadDeps } from "../thread/writer.ts";
import { type ArchiveLimits, importFolder } from "./import-folder.ts";
import { zipEntries } from "./zip.ts";

/** An archive as programs write it: each file deflated, or stored when its name says so. */
function zipped(files: Readonly<Record<string, string>>, { flags = 0, lie = 0 } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const method = name.startsWith("stored") ? 0 : 8;
    const bytes = Buffer.from(text);
    const packed = method === 0 ? bytes : deflateRawSync(bytes);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length - lie, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\u0001\u0002"), Buffer.from([20, 0]), common, rest, Buffer.from(name));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, list, end]);
}

function memory(t: TestContext) {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const imported = (bytes: Buffer, most: ArchiveLimits = { files: 100, bytes: 1e6 }) =>
    importFolder(threadDeps(store), "the body", { threadId: "z", onInvalid: "refuse", bytes, most });
  return { store, imported };
}

function place(t: TestContext, bytes: Buffer) {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-zip-"));
  const store = openSqlite({ path: ":memory:" });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const path = join(folder, "export.zip");
  writeFileSync(path, bytes);
  return { path, import: () => importFolder(threadDeps(store), path, { threadId: "z", onInvalid: "refuse" }) };
}

const chat = JSON.stringify([{ role: "user", content: "hi".repeat(5000) }]);

test("the sessions in an archive become threads, deflated or stored; other files are passed over", async (t) => {
  const at = place(
    t,
    zipped({ "a/conversations.json": chat, "stored.jsonl": chat, "chat.html": "<p>", "user.json": "{}" }),
  );
  const { files } = await at.import();
  assert.deepEqual(
    files.map(({ file, outcome }) => [file, outcome.kind === "imported" ? outcome.threads[0]?.thread : outcome.kind]),
    [
      ["a/conversations.json", "z-a-conversations"],
      ["stored.jsonl", "z-stored"],
      ["user.json", "empty"],
    ],
  );
});

test("an archive that is encrypted, cut off or lies about its sizes is named, and nothing of it is read", async (t) => {
  const encrypted = await place(t, zipped({ "a.json": chat }, { flags: 1 })).import();
  const lying = await place(t, zipped({ "a.json": chat }, { lie: 100 })).import();
  for (const [{ files }, said] of [
    [encrypted, /encrypted/],
    [lying, /too many bytes in the stream/],
  ] as const) {
    const outcome = files[0]!.outcome;
    assert.ok(outcome.kind === "unreadable");
    assert.match(outcome.problem, said);
  }
  const whole = zipped({ "a.json": chat });
  const cut = await zipEntries({ name: place(t, whole.subarray(0, whole.length - 30)).path, bytes: null });
  assert.match(String(cut), /without its list of files: is it truncated/);
});

test("an archive in memory of more files, or of more unpacked bytes, than allowed is refused whole", async (t) => {
  const { store, imported } = memory(t);
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`${index}.txt`, ""]));
  const bomb = { "a.json": chat, "bomb.json": `[${" ".repeat(1_000_000)}]` };
  const hidden = { "a.json": chat, "bomb.txt": " ".repeat(5_000_000) };
  for (const [files, said] of [
    [many, /more than 100 files/],
    [bomb, /unpacks to more than 1000000 bytes/],
  ] as const) {
    const [only, ...others] = (await imported(zipped(files))).files;
    assert.ok(only?.outcome.kind === "unreadable" && others.length === 0);
    assert.match(only.outcome.problem, said);
  }
  assert.deepEqual((await store.threads()).threads, []);
  const [taken] = (await imported(zipped(hidden))).files;
  assert.equal(taken?.outcome.kind, "imported", "what isn't unpacked doesn't count");
});

test("files of an archive that lie on top of each other count each, and one that says less than it holds stops there", async (t) => {
  const { store, imported } = memory(t);
  const archive = zipped({ "a.json": chat, "b.json": chat });
  archive.writeUInt32LE(0, archive.lastIndexOf("PK\u0001\u0002") + 42); // the second is where the first one is
  const both = await imported(archive, { files: 10, bytes: chat.length * 2 - 1 });
  assert.equal(both.files.length, 1);
  assert.equal(both.files[0]?.outcome.kind, "unreadable");
  const lying = await imported(zipped({ "a.json": chat }, { lie: chat.length - 1 }), { files: 10, bytes: 10 });
  assert.equal(lying.files[0]?.outcome.kind, "unreadable");
  assert.deepEqual((await store.threads()).threads, []);
});

test("names of files become ids and nothing else, and an archive inside of one is not opened", async (t) => {
  const { store, imported } = memory(t);
  const inner = zipped({ "b.json": chat }).toString("latin1");
  const { files } = await imported(
    zipped({ "../../etc/passwd.json": chat, "/root/x\u0000.jsonl": chat, "in.zip": inner, "stored.json": inner }),
  );
  assert.deepEqual(
    files.map(({ file, outcome }) => [file, outcome.kind]),
    [
      ["../../etc/passwd.json", "imported"],
      ["/root/x\u0000.jsonl", "imported"],
      ["stored.json", "invalid"],
    ],
  );
  const { threads } = await store.threads();
  assert.deepEqual(threads.map(({ header }) => header.id).toSorted(), ["z-etc-passwd", "z-root-x"]);
});

test("an archive with any byte changed, or cut off anywhere, gives outcomes and never throws", async (t) => {
  const { imported } = memory(t);
  const whole = zipped({ "a.json": '[{"role":"user","content":"hi"}]', "stored.json": "[]" });
  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole);
    changed[at] = changed[at]! ^ 0xff;
    for (const bytes of [changed, whole.subarray(0, at)]) {
      const { files } = await imported(bytes);
      for (const { outcome } of files) assert.equal(typeof outcome.kind, "string");
    }
  }
});
