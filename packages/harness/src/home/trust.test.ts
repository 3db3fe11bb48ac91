import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseHome, userFolders } from "./find.ts";
import { type Power, type TrustEvidence, trustStateOf, verdictOf } from "./trust.ts";

const HOME = { env: {}, cwd: "/work/project/src", userHome: "/home/ann/.local/share/palimpsest" };

for (const [name, asked, folders, directory, reason] of [
  ["--home", { option: "../mine" }, ["/work/project/.palimpsest"], "/work/project/mine", "option"],
  ["--home over PALIMPSEST_HOME", { option: "/a", env: { PALIMPSEST_HOME: "/b" } }, [], "/a", "option"],
  ["PALIMPSEST_HOME", { env: { PALIMPSEST_HOME: "/b" } }, ["/work/.palimpsest"], "/b", "environment"],
  ["the nearest .palimpsest", {}, ["/.palimpsest", "/work/project/.palimpsest"], "/work/project/.palimpsest", "found"],
  ["one right here", {}, ["/work/project/src/.palimpsest"], "/work/project/src/.palimpsest", "found"],
  ["the user's own, where there is none", {}, [], HOME.userHome, "user"],
  ["the user's own for an empty variable", { env: { PALIMPSEST_HOME: "" } }, [], HOME.userHome, "user"],
] as const) {
  test(`the home is ${name}`, () => {
    const isDirectory = (path: string): boolean => (folders as readonly string[]).includes(path);
    assert.deepEqual(chooseHome({ option: null, ...HOME, ...asked, isDirectory }), { directory, reason });
  });
}

test("a user's folders follow XDG, and a relative variable is ignored", () => {
  const at = { homeDirectory: "/home/ann" };
  assert.deepEqual(userFolders({}, at), {
    data: "/home/ann/.local/share/palimpsest",
    state: "/home/ann/.local/state/palimpsest",
  });
  assert.deepEqual(userFolders({ XDG_DATA_HOME: "/d", XDG_STATE_HOME: "relative" }, at), {
    data: "/d/palimpsest",
    state: "/home/ann/.local/state/palimpsest",
  });
});

const FOUND: TrustEvidence = { named: false, owner: "self", made: false, trusted: null, fingerprint: "now" };
const RUNS: Power = { kind: "code", key: "memory.storage_class", detail: "run x.js" };

for (const [name, given, state, home, config, harmless] of [
  ["one that was named", { named: true, owner: "other" }, "own", "use", "use", "use"],
  ["one that we made", { made: true }, "own", "use", "use", "use"],
  [
    "another user's, even if we had made it",
    { made: true, owner: "other" },
    "other-user",
    "refuse",
    "refuse",
    "refuse",
  ],
  [
    "another user's, even if it was trusted",
    { owner: "other", trusted: "now" },
    "other-user",
    "refuse",
    "refuse",
    "refuse",
  ],
  ["one that was trusted as it is", { trusted: "now" }, "trusted", "use", "use", "use"],
  ["one that was trusted and has changed", { trusted: "before" }, "changed", "ask", "ask", "use"],
  ["one that was just there", {}, "unknown", "ask", "ask", "use"],
] as const) {
  test(`${name} is ${state}: home ${home}, configuration ${config}, without powers ${harmless}`, () => {
    const found = trustStateOf({ ...FOUND, ...given });
    assert.equal(found, state);
    assert.equal(verdictOf(found, { kind: "home", powers: [] }), home);
    assert.equal(verdictOf(found, { kind: "config", powers: [RUNS] }), config);
    assert.equal(verdictOf(found, { kind: "config", powers: [] }), harmless);
  });
}
