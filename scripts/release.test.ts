import assert from "node:assert/strict";
import { test } from "node:test";
import { type Manifest, releaseOrder, releaseProblems } from "./release.ts";

function manifest(name: string, given: Partial<Manifest> = {}): Manifest {
  return { folder: name, name, version: "1.2.0", ...given };
}

const READY = {
  manifests: [manifest("core"), manifest("cli", { dependencies: { core: "1.2.0" } })],
  changelog: "# Changelog\n\n## 1.2.0 (2026-12-01)\n",
  status: "",
  tag: "v1.2.0",
};

test("a clean, tagged commit whose packages and changelog name one version can be released", () => {
  assert.deepEqual(releaseProblems(READY), []);
});

for (const { what, given, problem } of [
  {
    what: "two versions",
    given: { manifests: [manifest("a"), manifest("b", { version: "2.0.0" })] },
    problem: /different versions: 1\.2\.0, 2\.0\.0/,
  },
  {
    what: "an older package of ours as a dependency",
    given: { manifests: [manifest("core"), manifest("cli", { dependencies: { core: "1.1.0" } })] },
    problem: /cli depends on core 1\.1\.0, not 1\.2\.0/,
  },
  {
    what: "a changelog without the version",
    given: { changelog: "## Unreleased\n" },
    problem: /no heading "## 1\.2\.0/,
  },
  { what: "uncommitted changes", given: { status: " M README.md" }, problem: /not committed/ },
  { what: "no tag", given: { tag: null }, problem: /no tag, not v1\.2\.0/ },
  { what: "another tag", given: { tag: "v1.1.0" }, problem: /the tag v1\.1\.0, not v1\.2\.0/ },
])
  test(`a release is refused for ${what}`, () => {
    const problems = releaseProblems({ ...READY, ...given });
    assert.equal(problems.length, 1);
    assert.match(problems[0]!, problem);
  });

test("a package is published behind those it depends on, and a private one never", () => {
  const packages = [
    manifest("cli", { dependencies: { gateway: "1.2.0", core: "1.2.0" } }),
    manifest("gateway", { dependencies: { core: "1.2.0" } }),
    manifest("page", { private: true }),
    manifest("core"),
  ];
  assert.deepEqual(
    releaseOrder(packages).map(({ name }) => name),
    ["core", "gateway", "cli"],
  );
});

test("packages that depend on each other are refused", () => {
  const circle = [manifest("a", { dependencies: { b: "1.2.0" } }), manifest("b", { dependencies: { a: "1.2.0" } })];
  assert.throws(() => releaseOrder(circle), /depend on each other: a, b/);
});
