import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseConfig } from "./find.ts";

const OURS = ["/home/h/config.yaml", "/work/config.yaml"];
const ANOTHERS = "/work/site/config.yaml";

for (const [name, asked, path, reason] of [
  ["--config", { option: "../other.yaml", env: { PALIMPSEST_CONFIG: "/e.yaml" } }, "/work/other.yaml", "option"],
  ["PALIMPSEST_CONFIG", { env: { PALIMPSEST_CONFIG: "/e.yaml" } }, "/e.yaml", "environment"],
  ["the home's", { home: "/home/h" }, "/home/h/config.yaml", "home"],
  ["the home's, whatever is in it", { home: "/work/site" }, ANOTHERS, "home"],
  ["the nearest that is ours", {}, "/work/config.yaml", "directory"],
] as const) {
  test(`the configuration is ${name}`, () => {
    const question = { env: {}, home: "/nowhere", cwd: "/work/site", ...asked };
    const exists = (file: string): boolean => [...OURS, ANOTHERS].includes(file);
    assert.deepEqual(chooseConfig(question, { exists, isOurs: (file) => OURS.includes(file) }), { path, reason });
  });
}

test("no configuration is found where none is ours", () => {
  const question = { env: {}, home: "/nowhere", cwd: "/work/site" };
  assert.equal(chooseConfig(question, { exists: (file) => file === ANOTHERS, isOurs: () => false }), null);
});
