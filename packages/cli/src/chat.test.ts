import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { desk } from "../test/binary.ts";
import { completions } from "./chat/completion.ts";
import { mentionedPaths } from "./chat/line-editor.ts";
import { readSlash } from "./chat/slash.ts";

test("a chat reads prompts and commands from a pipe, one a line, and prints plain text", async (t) => {
  const { piped, file } = desk(t);
  const path = file("wheels.txt", "four of oak");
  const lines = [
    "The mill has four wheels.",
    ...Array.from({ length: 6 }, (_, day) => `Day ${day}: the wheels ran for ${day + 3} hours and the miller slept.`),
    `read @${path}`,
    `/upload ${path}`,
    "How many wheels did we say \\",
    "the mill has?",
    "/pin 3",
    "/compact the wheels",
    "/undo",
    "/redo",
    "/search four-wheeled mill",
    "/search hello there",
    "/files",
    "/fork",
    "/threads",
    "/new other",
    "Hello.",
    "/model",
    "/threads 77",
    "/nothing",
  ];
  const { code, stdout, stderr } = await piped(lines, "chat", "--thread", "mill");
  assert.equal(code, 0, stderr);
  assert.ok(!stdout.includes("\u001b"));
  for (const expected of [
    /> The mill has four wheels\.\n\[offline\] /,
    /Copied to \/mnt\/user-data\/uploads\/wheels\.txt/,
    /context \d+ % · [\d.]+k of 33k \[/,
    / > recall .+ · [\d.]+ m?s · [\d.]+ k?B/,
    /says: "The mill has four wheels\."/,
    /Message 3 is pinned/,
    /The question has no word that could be looked for/,
    /-- compacted · [\d,]+ -> [\d,]+ tokens · extract · [\d.]+ m?s -+\n {3}\d+ messages, .* are behind a summary/,
    /The compaction \(record \d+\) is taken back; \/redo brings it back\./,
    /The undo \(record \d+\) is taken back: what it undid is in force again/,
    /The tool read_file answered:\n(?:.*\n)?.*four of oak/,
    /#3 user: The mill has four wheels/,
    /uploads\/wheels\.txt {2}11 B/,
    /This is mill-fork-\d+ now/,
    /\* 1 +mill-fork-\d+ +\d+ +The mill has four wheels/,
    /This is other now/,
    /The list has no number 77; \/threads shows it\./,
    /There is no \/nothing/,
    /palimpsest chat --thread other\n$/,
  ])
    assert.match(stdout, expected);
});

test("the last message is asked again or changed in a fork, the thread is counted and written to a file, a file is given by its name", async (t) => {
  const at = desk(t);
  const notes = at.file("notes.txt", "four of oak");
  const lines = [
    "The mill has four wheels.",
    "It stands at the river.",
    "/retry",
    "/edit It stands at the sea.",
    "/cost",
    `/export ${at.file("mill.md")}`,
    `/export ${at.file("mill.md")}`,
    `/export ${at.file("mill.html")}`,
    `What is in @${notes} and @nowhere?`,
    "/threads",
    "/threads 3",
    "/model 7",
    "/clear",
  ];
  const { code, stdout, stderr } = await at.piped(lines, "chat", "--thread", "mill");
  assert.equal(code, 0, stderr);
  for (const expected of [
    /This is mill-fork-\d+ now; mill stays as it is \(\/threads mill\)\.\n> It stands at the river\.\n\[offline\]/,
    /You said: "It stands at the sea\."/,
    /\d+ model calls: [\d,]+ tokens in, [\d,]+ out\./,
    /Written to .*mill\.md\./,
    /mill\.md is there already/,
    /Copied to \/mnt\/user-data\/uploads\/notes\.txt; this message says so\./,
    /^ {2}no {2}thread +messages {2}title$/m,
    /This is mill now\./,
    /There is no model "7"/,
    /This is chat-.* now\.\n\/threads mill goes back\./,
  ])
    assert.match(stdout, expected);
  const written = readFileSync(at.file("mill.md"), "utf8");
  assert.match(written, /^# The mill has four wheels\n\n## user · #3 · .*\n\nThe mill has four wheels\.\n/);
  assert.match(readFileSync(at.file("mill.html"), "utf8"), /^<!doctype html>/);
  assert.ok(written.includes("the sea") && !written.includes("the river"));
});

test("a command says why it does nothing", async (t) => {
  const lines = ["/hide", "/model offline", "Hello.", "/notes write plan x", "/undo 3", "/export x.pdf"];
  lines.push("/hide abc", "/hide 3-5", "/hide -1", "/memory add I like tea", "/hide 3");
  const { stdout } = await desk(t).piped(lines, "chat");
  for (const expected of [
    /> \/hide\nThe prompt shows no message yet that could be hidden\./,
    /> \/model offline\nAnswers come from offline already\./,
    /Nothing done: \/notes takes nothing behind it/,
    /Nothing done: \/undo takes nothing behind it/,
    /\/export writes \.md, \.html and \.jsonl, not \.pdf\./,
    /> \/hide abc\nNothing hidden: "abc" is not the number of a message; .*\n/,
    /> \/hide 3-5\nNothing hidden: "3-5" is not .*\n> \/hide -1\nNothing hidden: "-1" is not .*\n/,
    /> \/memory add I like tea\nNothing found\. \/memory WORDS searches; ".* memory --help" lists what changes it\./,
  ])
    assert.match(stdout, expected);
});

test("the chat says which rule a message began or ended, and which one it leaves because it was set by hand", async (t) => {
  const at = desk(t);
  const lines = [
    "Never push to main.",
    "Use tabs in every file.",
    "Forget that rule.",
    "/rules",
    "/rules all",
    "/rules add Answer in German.",
    "Forget that rule.",
    "Drop the rule about German.",
    "/rules end 1",
    "/rules end r1",
    "/rules end r3",
    "/rules",
  ];
  const { stdout } = await at.piped(lines, "chat", "--thread", "order");
  for (const expected of [
    /^rule r1 began: Never push to main\.$/m,
    /^rule r2 began: Use tabs in every file\.$/m,
    /^rule r2 ended: Use tabs in every file\. \(\/rules restore r2 brings it back\)$/m,
    /> \/rules\n {2}r1 +Never push to main\. {2}\(message \d+\)\n1 ended: \/rules all lists them too\./,
    /> \/rules all\n.*r1 .*\n {2}r2 +Use tabs in every file\. {2}\(ended by message \d+, message \d+\)/,
    /> Forget that rule\.\n[^>]*rule r3 stays, since it was set by hand: Answer in German\. \(\/rules end r3 ends it\)/,
    /> Drop the rule about German\.\n[^>]*rule r3 stays, since it was set by hand/,
    /There is no rule "1"; did you mean r1\?/,
    /> \/rules\nNo rules in force; 3 ended/,
  ])
    assert.match(stdout, expected);
  const { stderr } = await at.run("run", "Never merge without a review.", "--thread", "order");
  assert.match(stderr, /^rule r4 began: Never merge without a review\.$/m);
});

test("/compact folds a range as the command does, and refuses what is neither a range nor words", async (t) => {
  const said = Array.from(
    { length: 4 },
    (_, day) => `Day ${day}: ${"the wheels ran and the miller slept. ".repeat(8)}`,
  );
  const wrong = ["3 5", "--from", "--from x", "--until 4 wheels", "--focus wheels", "5-3-1"];
  const lines = [
    ...said,
    "/compact 3-4",
    "/undo",
    "/compact --until 4 --from 3",
    ...wrong.map((one) => `/compact ${one}`),
  ];
  const { stdout } = await desk(t).piped(lines, "chat", "--thread", "mill");
  for (const way of ["3-4", "--until 4 --from 3"])
    assert.match(stdout, new RegExp(`> /compact ${way}\nFolded 3 to 4: \\d+ -> \\d+ tokens; /undo takes it back\\.`));
  for (const way of wrong) assert.match(stdout, new RegExp(`> /compact ${way}\nNothing done: /compact takes`));
  assert.doesNotMatch(stdout, /-- compacted/);
});

test("in a small window a compaction comes after some messages, and a question about the first is answered from behind it", async (t) => {
  const notes = Array.from(
    { length: 11 },
    (_, day) => `Note ${day}: valve ${day * 37} was changed by Nils for ${day} crowns, ${"and oiled ".repeat(8)}`,
  );
  const lines = ["My dog Rex lives in Oslo.", ...notes, "Where does Rex live?"];
  const { code, stdout, stderr } = await desk(t).piped(lines, "chat", "--window", "4000");
  assert.equal(code, 0, stderr);
  assert.match(stdout, /Try: .*\n.*the window fills/);
  assert.match(
    stdout,
    /-- compacted .*> Where does Rex live\?\n.*Message #3 \(user\) says: "My dog Rex lives in Oslo\."/s,
  );
  assert.match(stdout, /of 4k \[/);
});

test("a chat whose model has no key says so and ends with 1", async (t) => {
  const { piped, run, home } = desk(t);
  await run("run", "Hello.", "--thread", "t");
  writeFileSync(`${home}/config.yaml`, "models:\n  - {name: big, provider: anthropic, model: claude-opus-4-5}\n");
  const { code, stderr } = await piped(["Hello."], "chat");
  assert.equal(code, 1);
  assert.match(stderr, /ANTHROPIC_API_KEY/);
});

test("a slash and a word is a command; paths and sums are text", () => {
  assert.equal(readSlash("/compact the plan").kind, "command");
  assert.equal(readSlash("/exit").kind, "quit");
  assert.equal(readSlash("/frobnicate").kind, "unknown");
  for (const text of ["/etc/passwd is a file", "1/2", "//", "/"]) assert.equal(readSlash(text).kind, "text", text);
});

test("completion offers the commands a line may become, paths behind @, and nothing inside a sentence", async (t) => {
  assert.deepEqual(await completions("/un"), ["/undo", "/unfold"]);
  assert.deepEqual(await completions("/comp"), ["/compact "]);
  assert.deepEqual(await completions("what of /un"), []);
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-chat-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "my notes"));
  for (const name of ["plan.txt", "my notes/to do.txt"]) writeFileSync(join(folder, name), "x");
  assert.deepEqual(await completions(`look at @${folder}/pl`), [`look at @${folder}/plan.txt`]);
  assert.deepEqual(await completions(`/upload ${folder}/my`), [`/upload ${folder}/my notes/`]);
  for (const typed of [`@${folder}/my`, `@"${folder}/my n`])
    assert.deepEqual(await completions(`look at ${typed}`), [`look at @"${folder}/my notes/`]);
  for (const typed of [`@${folder}/my notes/to d`, `@"${folder}/my notes/`])
    assert.deepEqual(await completions(`a@b @x ${typed}`), [`a@b @x @"${folder}/my notes/to do.txt"`]);
});

test("a mention is a path without blanks, or one in quotes", () => {
  assert.deepEqual(mentionedPaths('read @a/b.txt and @"my notes/to do.txt", not a@b.org'), [
    "a/b.txt",
    "my notes/to do.txt",
  ]);
});
