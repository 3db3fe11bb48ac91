import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { crc32, deflateRawSync } from "node:zlib";
import { openSqlite } from "../stores/index.ts";
import { threadDeps } from "../threads/index.ts";
import { importFolder } from "./import-folder.ts";
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
    [lying, /more bytes than its list says/],
  ] as const) {
    const outcome = files[0]!.outcome;
    assert.ok(outcome.kind === "unreadable");
    assert.match(outcome.problem, said);
  }
  const whole = zipped({ "a.json": chat });
  const cut = await zipEntries(place(t, whole.subarray(0, whole.length - 30)).path);
  assert.match(String(cut), /without its list of files: is it truncated/);
});
