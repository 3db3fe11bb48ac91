import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PalimpsestError } from "@palimpsest/core/errors";
import { isMissing, loadOptional, OPTIONAL_PACKAGES } from "./optional-package.ts";

test("a package that isn't installed is answered with what to install", async () => {
  const absent = Object.assign(new Error("Cannot find package 'pg' imported from /app/pool.js"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  await assert.rejects(
    loadOptional("pg", () => Promise.reject(absent)),
    (error: unknown) => {
      assert.ok(PalimpsestError.isInstance(error));
      assert.equal(error.code, "missing-package");
      assert.equal(error.cause, absent);
      assert.match(error.message, /A PostgreSQL store needs the package pg.*npm install pg@8/);
      return true;
    },
  );
});

test("what a package throws by itself stays as it is", async () => {
  const broken = new Error("a bad build");
  await assert.rejects(
    loadOptional("pg", () => Promise.reject(broken)),
    broken,
  );
});

test("only the package itself counts as missing, not one that it lacks", () => {
  const missing = (message: string, code = "ERR_MODULE_NOT_FOUND") =>
    isMissing("pg", Object.assign(new Error(message), { code }));
  assert.equal(missing("Cannot find package 'pg' imported from /app/x.js"), true);
  assert.equal(missing("Cannot find module 'pg' from '/app/x.js'"), true);
  assert.equal(missing("Cannot find package 'pg-pool' imported from /app/x.js"), false);
  assert.equal(missing("Cannot find package 'other' imported from /app/node_modules/pg/x.js"), false);
  assert.equal(missing("Cannot find package 'pg' imported from /app/x.js", "EACCES"), false);
  assert.equal(isMissing("pg", "pg"), false);
});

test("the packages named in errors are the optional peers, in versions they allow", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const optional = Object.keys(manifest.peerDependenciesMeta);
  assert.deepEqual(Object.keys(OPTIONAL_PACKAGES).sort(), optional.sort());
  for (const [name, { version }] of Object.entries(OPTIONAL_PACKAGES))
    assert.ok(manifest.peerDependencies[name].startsWith(`^${version}.`), name);
});
