// `npm ci` checks what it downloads against the lock file's hashes, so a package without one could be any bytes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isDownloaded, type LockFile } from "./lock-hashes.ts";

const root = join(import.meta.dirname, "..");

for (const path of ["package-lock.json", "bench/package-lock.json", "site/package-lock.json"]) {
  const lock = JSON.parse(readFileSync(join(root, path), "utf8")) as LockFile;
  const downloaded = Object.entries(lock.packages).filter(isDownloaded);

  test(`${path} has a hash for every package that npm downloads`, () => {
    assert.ok(downloaded.length > 100);
    const bare = downloaded.filter(([, entry]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? ""));
    assert.deepEqual(
      bare.map(([place]) => place),
      [],
      "run: npx node scripts/lock-hashes.ts",
    );
  });

  test(`${path} names no registry, so that npm uses the one that the machine is set to`, () => {
    assert.deepEqual(
      downloaded.filter(([, entry]) => entry.resolved !== undefined).map(([place]) => place),
      [],
    );
  });
}
