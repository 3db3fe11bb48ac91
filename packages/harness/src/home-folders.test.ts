import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { folderName, threadFolder, userFolder } from "./home-folders.ts";

test("a plain name is its own folder, whatever else is spelled out", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["ada", "ada"],
    ["subagent-0f_1.2", "subagent-0f_1.2"],
    ["Ada", "%41da"],
    ["auth0|123", "auth0%7c123"],
    ["ann@example.org", "ann%40example.org"],
    ["did:web:x", "did%3aweb%3ax"],
    ["..", "%2e%2e"],
    [".hidden", "%2ehidden"],
    ["trailing.", "trailing%2e"],
    ["con", "%63on"],
    ["nul.txt", "%6eul.txt"],
    ["CON", "%43%4f%4e"],
    ["console", "console"],
    ["a/b\\c", "a%2fb%5cc"],
    ["%41da", "%2541da"],
    ["🦊", "%f0%9f%a6%8a"],
    ["~", "%7e"],
  ];
  for (const [name, folder] of cases) assert.equal(folderName(name), folder, name);
});

test("no two names share a folder, also where the disk folds case, and none is longer than a file system takes", () => {
  const long = "x".repeat(500);
  const names = ["a", "A", "%41", "x", ".", "..", "...", "ä", "Ä", "é", "e\u0301", "CON", "con", "Con", "a.", "a"]
    .concat([long, `${long}y`, long.toUpperCase(), "🦊".repeat(500), `${"🦊".repeat(499)}🐻`])
    .concat(["x".repeat(200), "x".repeat(201)]);
  const folders = new Set([...new Set(names)].map((name) => folderName(name).toLowerCase()));
  assert.equal(folders.size, new Set(names).size);
  for (const folder of folders) assert.match(folder, /^[a-z0-9_%~.-]{1,255}$/);
});

test("the default user's things lie in the home itself, another's under users", () => {
  assert.equal(userFolder("home", "default"), "home");
  assert.equal(userFolder("home", "Default"), join("home", "users", "%44efault"));
  assert.equal(threadFolder("home", { user: "default", id: "t1" }), join("home", "threads", "t1"));
  assert.equal(threadFolder("home", { user: "ada", id: "T1" }), join("home", "users", "ada", "threads", "%541"));
});
