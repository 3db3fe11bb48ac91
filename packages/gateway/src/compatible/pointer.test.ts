import assert from "node:assert/strict";
import { test } from "node:test";
import { createThread, withWriter } from "palimpsest/internal/threads";
import { appendMessages, threadDeps } from "palimpsest/session";
import { openSqlite } from "palimpsest/stores";
import { findPointed, isSigned, readPointer, signPointer } from "./pointer.ts";

const SIGNING = { secret: "s3cret", kind: "response" };
const THREAD = { id: "c-1.a_B", user: "ada", createdAt: "2026-01-01T00:00:00.000Z" };
const PLACE = { seq: 1295, salt: "x-9_" };

test("a pointer says its place and is what an id may be made of", () => {
  const token = signPointer(THREAD, PLACE, SIGNING);
  assert.match(token, /^[\w.-]+$/);
  assert.equal(encodeURIComponent(token), token);
  assert.deepEqual(readPointer(token), { ...PLACE, threadId: THREAD.id });
  assert.ok(isSigned(token, THREAD, SIGNING));
  assert.notEqual(token, signPointer(THREAD, { ...PLACE, salt: "x8" }, SIGNING));
});

test("another user's, another kind's, another secret's, another text's and an older thread's pointer is none", () => {
  const token = signPointer(THREAD, PLACE, { ...SIGNING, about: "a summary" });
  assert.ok(isSigned(token, THREAD, { ...SIGNING, about: "a summary" }));
  assert.ok(!isSigned(token, { ...THREAD, user: "bob" }, { ...SIGNING, about: "a summary" }));
  assert.ok(!isSigned(token, { ...THREAD, createdAt: "2026-01-02T00:00:00.000Z" }, { ...SIGNING, about: "a summary" }));
  assert.ok(!isSigned(token, THREAD, { ...SIGNING, about: "a summery" }));
  assert.ok(!isSigned(token, THREAD, { ...SIGNING, kind: "item", about: "a summary" }));
  assert.ok(!isSigned(token, THREAD, { ...SIGNING, secret: "other", about: "a summary" }));
});

test("no pointer survives an edit of one character, and nothing that is none is taken for one", () => {
  const token = signPointer(THREAD, PLACE, SIGNING);
  for (let at = 0; at < token.length; at += 1) {
    const edited = token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
    assert.ok(!isSigned(edited, THREAD, SIGNING), edited);
  }
  for (const other of ["", "abc", "67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b", `${token} `, `${token}=`])
    assert.ok(!isSigned(other, THREAD, SIGNING), other);
  assert.equal(readPointer("67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b"), null);
});

test("a place is found by its user alone, and no longer when its thread is gone or was made anew", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const [ada, bob] = [store.forUser("ada"), store.forUser("bob")];
  let day = 0;
  const clock = () => {
    day += 1;
    return new Date(Date.UTC(2026, 0, day));
  };
  const deps = threadDeps(ada, { clock });
  const body = { role: "user", content: "hello" };
  const say = () =>
    withWriter(deps, "t", (writer) => appendMessages(writer, [{ dialect: "openai", origin: "user", body }]));
  await createThread(deps, { id: "t" });
  await createThread({ ...deps, store: bob }, { id: "t" });
  await say();
  const header = (await ada.header("t"))!;
  const token = signPointer(header, { seq: 1, salt: "" }, SIGNING);
  const pointed = await findPointed(ada, token, SIGNING);
  assert.deepEqual(pointed.kind === "found" && pointed.pointer, { threadId: "t", seq: 1, salt: "" });
  assert.equal((await findPointed(bob, token, SIGNING)).kind, "not-found");
  const beyond = signPointer(header, { seq: 2, salt: "" }, SIGNING);
  assert.equal((await findPointed(ada, beyond, SIGNING)).kind, "not-found");
  await ada.deleteThread("t");
  assert.equal((await findPointed(ada, token, SIGNING)).kind, "not-found");
  await createThread(deps, { id: "t" });
  await say();
  assert.equal((await findPointed(ada, token, SIGNING)).kind, "not-found");
});
