import assert from "node:assert/strict";
import { test } from "node:test";
// @ts-expect-error: runs before anything is installed, so it has no types.
import { installOf } from "./install-of.mjs";

const fresh = {
  needsChatOnly: true,
  isCurrent: false,
  hasTests: false,
  hasOwnNode: false,
  runsOnOwnNode: false,
  version: "20.20.2",
};
const onOwnNode = { hasOwnNode: true, runsOnOwnNode: true, version: "24.21.0" };

for (const [title, given, expected] of [
  ["a fresh clone, an old Node: the chat brings its own", {}, "chat and Node"],
  ["a fresh clone, a new Node: the chat runs on it", { version: "22.18.0" }, "chat"],
  ["Node just too old", { version: "22.17.9" }, "chat and Node"],
  ["installed: nothing", { isCurrent: true, hasOwnNode: true }, null],
  ["installed, on its own Node: nothing", { ...onOwnNode, isCurrent: true }, null],
  ["a changed lock file, on the Node that installing removes: Node comes again", onOwnNode, "chat and Node"],
  ["an installation that ended before its Node came: it comes now", { isCurrent: true }, "chat and Node"],
  ["a changed lock file where the tests are installed: they stay", { ...onOwnNode, hasTests: true }, "all"],
  ["the tests, after a chat: all", { isCurrent: true, hasOwnNode: true, needsChatOnly: false }, "all"],
  ["the tests, installed: nothing", { ...onOwnNode, isCurrent: true, hasTests: true, needsChatOnly: false }, null],
] as const)
  test(title, () => assert.equal(installOf({ ...fresh, ...given }), expected));
