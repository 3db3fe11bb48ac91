import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { explainMissing, OPTIONAL_PACKAGES } from "./optional-package.ts";

const notFound = (message: string, code = "ERR_MODULE_NOT_FOUND") => Object.assign(new Error(message), { code });

test("a package that isn't installed is answered with what to install", () => {
  for (const absent of [
    notFound("Cannot find package 'pg' imported from /app/pool.js"),
    notFound("Cannot find module 'pg'", "MODULE_NOT_FOUND"),
    notFound('Could not find package "pg" in node_modules'),
  ]) {
    const error = explainMissing(absent);
    assert.ok(PalimpsestError.isInstance(error));
    assert.equal(error.code, "missing-package");
    assert.equal(error.cause, absent);
    assert.equal(error.message, "A PostgreSQL store needs the package pg, which is not installed: npm install pg@8");
  }
});

test("every other error stays as it is", () => {
  for (const error of [
    notFound("Cannot find package 'pg-pool' imported from /app/node_modules/pg/index.js"),
    notFound("Cannot find module '/app/pg'"),
    notFound("Cannot find package 'pg' imported from /app/pool.js", "EACCES"),
    new Error("a bad build"),
    "pg",
  ])
    assert.equal(explainMissing(error), error);
});

/** A subpath that is about nothing else imports it at once, so the runtime's own error names it. */
const NAMED_BY_THE_RUNTIME = ["@opentelemetry/api"];

test("the packages named in errors are the optional peers, in versions they allow", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const optional = Object.keys(manifest.peerDependenciesMeta).filter((name) => !NAMED_BY_THE_RUNTIME.includes(name));
  assert.deepEqual(OPTIONAL_PACKAGES.map(({ name }) => name).sort(), optional.sort());
  for (const { name, version } of OPTIONAL_PACKAGES)
    assert.ok(manifest.peerDependencies[name].startsWith(`^${version}.`), name);
});

test("each peer's range begins at the oldest version that docs/installing.md promises", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  const promised = /with the oldest peers\s+\(([^)]*)\)/.exec(read("../../../docs/installing.md"))?.[1] ?? "";
  const versions = [...promised.matchAll(/`([@\w/-]+)` (\d+\.\d+\.\d+)/g)];
  assert.equal(versions.length, 7, promised);
  const ranges = ["..", "../../adapters-langchain", "../../adapters-openai-agents"].map(
    (folder) => JSON.parse(read(`${folder}/package.json`)).peerDependencies as Record<string, string>,
  );
  for (const [, name, version] of versions) {
    const range = ranges.find((peers) => name! in peers)?.[name!];
    assert.equal(range?.split(" ")[0], `^${version}`, name);
  }
});
