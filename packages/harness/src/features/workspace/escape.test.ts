import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { resolveVirtual, virtualPath } from "./inside.ts";
import { imageTools, workspaceTools } from "./middleware.ts";
import { prepareWorkspace, threadWorkspace, type Workspace } from "./workspace.ts";

const SECRET = "the-host-secret";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Every way of naming something outside; `{host}` is the absolute path of the secret's folder. */
const ATTEMPTS: readonly string[] = [
  "/etc/passwd",
  "//etc/passwd",
  "///etc//passwd",
  "{host}/secret.txt",
  "/{host}/secret.txt",
  "/.{host}/secret.txt",
  "../secret.txt",
  "../../secret.txt",
  "../../../secret.txt",
  "../../../../secret.txt",
  "../../../../../secret.txt",
  "../../../../../../../../../../../../etc/passwd",
  "./../../../../secret.txt",
  "a/../../secret.txt",
  "a/b/../../../../secret.txt",
  "a/./.././../../secret.txt",
  "..",
  "../..",
  "/..",
  "/../etc/passwd",
  "/mnt",
  "/mnt/..",
  "/mnt/user-data/..",
  "/mnt/user-data/../..",
  "/mnt/user-data/../user-data-2/secret.txt",
  "/mnt/user-data/../../etc/passwd",
  "/mnt/user-data/workspace/../../../etc/passwd",
  "/mnt/user-data/workspace/../../../../etc/passwd",
  "/mnt/user-data/outputs/../../../{host}/secret.txt",
  "/mnt/user-data/workspace/../../secret.txt",
  "/mnt/user-data/other/secret.txt",
  "/mnt/user-data/secret.txt",
  "/mnt/user-data-2/workspace/secret.txt",
  "/mnt/user-dataworkspace/secret.txt",
  "/MNT/USER-DATA/WORKSPACE/secret.txt",
  "/mnt/user-data/Workspace/../../../secret.txt",
  "/mnt/user-data/HISTORY/secret.txt",
  "/mnt/User-Data/outputs/secret.txt",
  "/mnt/user-data/threads/other/workspace/secret.txt",
  "/mnt/user-data/workspace/../../other/workspace/secret.txt",
  "../../../threads/other/workspace/secret.txt",
  "../../other/workspace/secret.txt",
  "secret.txt\0",
  "\0/etc/passwd",
  "/mnt/user-data/workspace/\0../../../../secret.txt",
  "..\\..\\..\\secret.txt",
  "C:\\Windows\\win.ini",
  "\\\\server\\share\\secret.txt",
  "..%2f..%2f..%2fsecret.txt",
  "%2e%2e/%2e%2e/secret.txt",
  "..;/..;/secret.txt",
  "．．/．．/secret.txt",
  "‥/‥/secret.txt",
  "file://{host}/secret.txt",
  "file:///etc/passwd",
  "~/secret.txt",
  "~root/.bashrc",
  "$HOME/secret.txt",
  "{host}/./secret.txt",
  "/proc/self/environ",
  "/proc/self/cwd/package.json",
  "/proc/self/root/etc/passwd",
  "/dev/fd/0",
  `${"../".repeat(500)}etc/passwd`,
  `${"a/".repeat(3000)}secret.txt`,
  "a".repeat(300),
  `${"x".repeat(5000)}/../../../../secret.txt`,
  "",
  // Links of the host that lie in the workspace.
  "link-to-secret",
  "link-to-folder/secret.txt",
  "link-to-folder",
  "deep/link-to-root/etc/passwd",
  "chain-2/secret.txt",
  "/mnt/user-data/uploads/link-to-secret",
  "/mnt/user-data/outputs/link-to-folder/secret.txt",
  "/mnt/user-data/outputs/link-to-secret",
];

describe("nothing gets out of a thread's folders", () => {
  let base: string;
  let workspace: Workspace;
  let shell: (command: string) => Promise<string>;

  before(async () => {
    base = await mkdtemp(join(tmpdir(), "escape-"));
    workspace = threadWorkspace(join(base, "home"), { user: "default", id: "t" });
    await prepareWorkspace(workspace);
    const other = threadWorkspace(join(base, "home"), { user: "default", id: "other" });
    await prepareWorkspace(other);
    for (const folder of [base, join(base, "home"), other.roots.workspace.directory]) {
      await writeFile(join(folder, "secret.txt"), SECRET);
    }
    await writeFile(join(base, "secret.png"), Buffer.from(PNG, "base64"));
    const inWorkspace = workspace.roots.workspace.directory;
    await mkdir(join(inWorkspace, "deep"));
    await symlink("/", join(inWorkspace, "deep", "link-to-root"));
    for (const root of ["workspace", "uploads", "outputs"] as const) {
      await symlink(join(base, "secret.txt"), join(workspace.roots[root].directory, "link-to-secret"));
      await symlink(base, join(workspace.roots[root].directory, "link-to-folder"));
    }
    await symlink(join(base, "secret.png"), join(inWorkspace, "link.png"));
    await symlink("link-to-folder", join(inWorkspace, "chain-1"));
    await symlink("chain-1", join(inWorkspace, "chain-2"));
    const { bash } = workspaceTools(workspace, { remember: async () => {} });
    shell = (command) => call(bash, { command });
  });
  after(async () => rm(base, { recursive: true, force: true }));

  const attempts = (): string[] => ATTEMPTS.map((path) => path.replaceAll("{host}", base));

  it("by any of more than 60 paths through any file tool", async () => {
    assert.ok(ATTEMPTS.length >= 60);
    const artifacts: unknown[] = [];
    const tools = workspaceTools(workspace, { remember: async (patch) => void artifacts.push(patch) });
    const seen: unknown[] = [];
    const { view_image } = imageTools(workspace, async (image) => void seen.push(image));
    for (const path of attempts()) {
      const results = [
        await call(tools.ls, { path }),
        await call(tools.read_file, { path }),
        await call(tools.write_file, { path, content: "pwned" }),
        await call(tools.write_file, { path, content: "pwned", append: true }),
        await call(tools.write_file, { path: `${path}/new-file`, content: "pwned" }),
        await call(tools.str_replace, { path, old_str: SECRET, new_str: "pwned" }),
        await call(tools.glob, { pattern: "**/*secret*", path }),
        await call(tools.glob, { pattern: path === "" ? "/" : path }),
        await call(tools.grep, { pattern: SECRET.slice(0, 8), path }),
        await call(tools.grep, { pattern: "root:", path }),
        await call(tools.present_files, { paths: [path] }),
        await call(view_image, { path }),
      ];
      for (const result of results) assertNothingLeaked(result, path);
    }
    assert.deepEqual(artifacts, []);
    assert.match(await call(view_image, { path: "link.png" }), /symbolic link/);
    assert.deepEqual(seen, []);
    await assertUntouched();
  });

  it("by any of these paths through commands of the shell", async () => {
    const quoted = attempts()
      .filter((path) => !path.includes("\0") && path !== "" && path.length < 2000)
      .map((path) => `'${path}'`);
    const result = await shell(
      `for f in ${quoted.join(" ")}; do cat "$f"; head -c 99 < "$f"; ls "$f/"; grep -r secret "$f"; cp "$f" stolen; ln -s "$f" l; cat l; ln "$f" h; cat h; echo pwned > "$f"; echo pwned >> "$f"; tee "$f" < /dev/null; sed -i s/the/pwned/ "$f"; mv "$f" moved; tar cf - "$f"; find "$f" -name '*secret*' -exec cat {} +; done 2>&1; echo tried all`,
    );
    assertNothingLeaked(result, "the shell");
    assertNothingLeaked(
      await shell("cat stolen l h moved * */* 2>&1; find / -type f -exec cat {} + 2>&1"),
      "the shell, later",
    );
    await assertUntouched();
  });

  it("by a program, the network or the host's environment", async () => {
    const result = await shell(
      "env; /bin/cat /etc/passwd; node -e 1; python3 -c 1; curl http://localhost; exec 3<>/dev/tcp/localhost/80",
    );
    assert.doesNotMatch(result, /npm_|root:|node_modules/);
    assertNothingLeaked(result, "the shell");
  });

  it("by a link that is swapped in while files are read and written", async () => {
    const tools = workspaceTools(workspace, { remember: async () => {} });
    const folder = join(workspace.roots.workspace.directory, "swapped");
    let swapping = true;
    const swap = (async () => {
      while (swapping) {
        await rm(folder, { recursive: true, force: true }).catch(() => {});
        await mkdir(folder).catch(() => {});
        await writeFile(join(folder, "secret.txt"), "harmless").catch(() => {});
        await rm(folder, { recursive: true, force: true }).catch(() => {});
        await symlink(base, folder).catch(() => {});
      }
    })();
    for (let round = 0; round < 150; round++) {
      assertNothingLeaked(await call(tools.read_file, { path: "swapped/secret.txt" }), "a swapped folder");
      assertNothingLeaked(
        await call(tools.write_file, { path: "swapped/secret.txt", content: "pwned" }),
        "a swapped folder",
      );
      assertNothingLeaked(await call(tools.grep, { pattern: "secret", path: "swapped" }), "a swapped folder");
    }
    swapping = false;
    await swap;
    await rm(folder, { recursive: true, force: true });
    await assertUntouched();
  });

  it("and the history is read-only for every tool", async () => {
    const { directory } = workspace.roots.history;
    await writeFile(join(directory, "part-1.jsonl"), "kept\n");
    const tools = workspaceTools(workspace, { remember: async () => {} });
    const path = "/mnt/user-data/history/part-1.jsonl";
    assert.match(await call(tools.read_file, { path }), /kept/);
    assert.match(await call(tools.write_file, { path, content: "x" }), /read-only/);
    assert.match(await call(tools.write_file, { path: "../history/new", content: "x" }), /read-only/);
    assert.match(await call(tools.str_replace, { path, old_str: "kept", new_str: "x" }), /read-only/);
    await shell(`echo x > ${path}`);
    await shell(
      `rm -rf /mnt/user-data/history/*; mv ${path} a; sed -i s/kept/x/ ${path}; chmod 777 ${path}; touch ${path}`,
    );
    assert.equal(await readFile(join(directory, "part-1.jsonl"), "utf8"), "kept\n");
  });

  async function assertUntouched(): Promise<void> {
    for (const folder of [base, join(base, "home")]) {
      assert.equal(await readFile(join(folder, "secret.txt"), "utf8"), SECRET);
      await assert.rejects(readFile(join(folder, "new-file")));
    }
    const other = threadWorkspace(join(base, "home"), { user: "default", id: "other" }).roots.workspace.directory;
    assert.equal(await readFile(join(other, "secret.txt"), "utf8"), SECRET);
    assert.deepEqual(await readFile(join(base, "secret.png")), Buffer.from(PNG, "base64"));
  }

  function assertNothingLeaked(result: string, attempt: string): void {
    const shown = JSON.stringify(attempt.slice(0, 80));
    assert.ok(!result.includes(SECRET), `${shown} read the secret: ${result.slice(0, 200)}`);
    assert.ok(!result.includes("root:x:"), `${shown} read a file of the host`);
    assert.ok(
      !result.replaceAll(attempt, "").includes(`${base}/home`),
      `${shown} showed a path of the host: ${result}`,
    );
  }
});

describe("virtual paths", () => {
  it("lead into one of the folders, or are refused, whatever is asked", () => {
    const piece = fc.oneof(
      fc.constantFrom("..", ".", "", "mnt", "user-data", "workspace", "history", "a"),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.boolean(), (pieces, absolute) => {
        const resolved = resolveVirtual((absolute ? "/" : "") + pieces.join("/"));
        if (resolved.kind !== "place") return;
        for (const name of resolved.place.segments)
          assert.ok(name !== "" && name !== "." && name !== ".." && !/[/\0\\]/.test(name));
        assert.deepEqual(
          resolveVirtual(virtualPath(resolved.place)),
          resolved,
          "the one spelling leads to the same place",
        );
      }),
    );
  });
});

interface Callable {
  readonly execute?: unknown;
}

/** What the model would read: the result, or the error. */
async function call(tool: Callable, input: unknown): Promise<string> {
  const execute = tool.execute as (input: unknown, options: unknown) => Promise<string>;
  try {
    return String(await execute(input, { toolCallId: "c", messages: [] }));
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
}
