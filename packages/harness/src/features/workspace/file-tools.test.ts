import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, open, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { imageTools, workspaceTools } from "./middleware.ts";
import { editText, type LinesRead, readLines } from "./read-write.ts";
import { copyWorkspace, prepareWorkspace, subagentWorkspace, threadWorkspace, type Workspace } from "./workspace.ts";

describe("file tools", () => {
  let base: string;
  let workspace: Workspace;
  let tools: ReturnType<typeof workspaceTools>;
  const state: Record<string, unknown>[] = [];

  before(async () => {
    base = await mkdtemp(join(tmpdir(), "files-"));
    workspace = threadWorkspace(base, { user: "default", id: "t" });
    await prepareWorkspace(workspace);
    tools = workspaceTools(workspace, { remember: async (patch) => void state.push(patch), readChars: 1000 });
  });
  after(async () => rm(base, { recursive: true, force: true }));

  const host = (name: string): string => join(workspace.roots.workspace.directory, name);

  describe("reading", () => {
    it("gives a short file as it is", async () => {
      await writeFile(host("short.txt"), "one\ntwo\n");
      assert.equal(await call(tools.read_file, { path: "short.txt" }), "one\ntwo\n");
      assert.equal(await call(tools.read_file, { path: "/mnt/user-data/workspace/./short.txt" }), "one\ntwo\n");
    });

    it("reaches every character of any file by following its own pointers [F47]", async () => {
      const line = fc.string({ unit: "grapheme", maxLength: 60 }).map((text) => text.replaceAll(/[\0\uFEFF]/g, ""));
      const lines = fc.array(fc.oneof(line, fc.constant("")), { maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(
          lines,
          fc.integer({ min: 2, max: 40 }),
          fc.integer({ min: 1, max: 4 }),
          async (parts, maxChars, limit) => {
            const text = parts.join("\n");
            await writeFile(host("any.txt"), text);
            const file = await open(host("any.txt"));
            let read = "";
            let next: { offset: number; column: number } | null = { offset: 1, column: 1 };
            while (next !== null) {
              const slice: LinesRead = await readLines(file, { ...next, limit, maxChars });
              assert.ok(slice.kind === "text" && slice.text.length <= maxChars);
              read += slice.text;
              next = slice.next;
            }
            await file.close();
            assert.equal(read, text);
          },
        ),
      );
    });

    it("goes on inside a long line where its result says [F47]", async () => {
      await writeFile(host("long-line.json"), `{"a":"${"é😀".repeat(500)}"}`);
      const first = await call(tools.read_file, { path: "long-line.json" });
      const column = Number(/go on with offset: 1, column: (\d+)\]$/.exec(first)?.[1]);
      const second = await call(tools.read_file, { path: "long-line.json", column });
      assert.match(second, /"\}\n\[line 1 from character \d+ of 1: the end of the file\]$/);
    });

    it("says what to do with a binary file, an image, a folder, a missing file and a line past the end", async () => {
      await writeFile(host("data.bin"), Buffer.from([1, 2, 0, 3]));
      await writeFile(host("utf16.txt"), Buffer.from("\uFEFFhi", "utf16le"));
      await writeFile(host("picture.txt"), Buffer.from(PNG, "base64"));
      await mkdir(host("folder"));
      assert.match(await call(tools.read_file, { path: "data.bin" }), /error: .*binary file.*bash/);
      assert.match(await call(tools.read_file, { path: "utf16.txt" }), /error: .*UTF-16/);
      assert.match(await call(tools.read_file, { path: "picture.txt" }), /error: .*image.*view_image/);
      assert.match(await call(tools.read_file, { path: "folder" }), /error: .*folder.*ls/);
      assert.match(await call(tools.read_file, { path: "nowhere" }), /error: .*does not exist/);
      assert.match(await call(tools.read_file, { path: "short.txt", offset: 9 }), /error: .*has 2 lines.*no line 9/);
    });

    it("shows what it can of a file that is not UTF-8, and does not edit it", async () => {
      await writeFile(host("latin1.txt"), Buffer.from("caf\xe9\nline two\n", "latin1"));
      assert.match(await call(tools.read_file, { path: "latin1.txt" }), /caf\uFFFD\nline two\n\[.*UTF-8/);
      const edit = { path: "latin1.txt", old_str: "two", new_str: "2" };
      assert.match(await call(tools.str_replace, edit), /error: .*not valid UTF-8/);
      assert.match(await call(tools.write_file, { path: "latin1.txt", content: "x", append: true }), /error: .*UTF-8/);
      assert.deepEqual(await readFile(host("latin1.txt")), Buffer.from("caf\xe9\nline two\n", "latin1"));
    });

    it("reads the start of a file of 1 GB without reading all of it into memory", async () => {
      await writeFile(host("huge.log"), "first line\nsecond line\n".repeat(10_000));
      await truncate(host("huge.log"), 1 << 30);
      const before = process.memoryUsage().rss;
      assert.match(
        await call(tools.read_file, { path: "huge.log", limit: 2 }),
        /^first line\nsecond line\n\[.*go on with offset: 3/,
      );
      assert.match(
        await call(tools.str_replace, { path: "huge.log", old_str: "a", new_str: "b" }),
        /error: .*too many to edit/,
      );
      assert.ok(process.memoryUsage().rss - before < 300 << 20);
      await rm(host("huge.log"));
    });

    it("goes on when a file vanishes or shrinks during a read", async () => {
      await writeFile(host("vanishing.txt"), "line\n".repeat(200_000));
      const handle = await open(host("vanishing.txt"), "r+");
      const reading = call(tools.read_file, { path: "vanishing.txt", offset: 150_000, limit: 3 });
      await rm(host("vanishing.txt"));
      await handle.truncate(100);
      await handle.close();
      assert.match(await reading, /^(?:line\n|error: .*(?:does not exist|has \d+ lines))/);
    });

    it("does not wait for a pipe that nobody writes to", async () => {
      run("mkfifo", host("pipe"));
      assert.match(await call(tools.read_file, { path: "pipe" }), /error: .*not a regular file/);
      assert.match(await call(tools.grep, { pattern: "x", path: "." }), /./);
      assert.match(await call(tools.write_file, { path: "pipe", content: "x" }), /error: .*not a regular file/);
      await rm(host("pipe"));
    });
  });

  describe("writing", () => {
    it("makes folders, replaces, appends, keeps permissions", async () => {
      assert.match(await call(tools.write_file, { path: "a/b/c.sh", content: "é" }), /Wrote 2 bytes to .*a\/b\/c.sh/);
      await chmod(host("a/b/c.sh"), 0o755);
      await call(tools.write_file, { path: "a/b/c.sh", content: "1\n", append: true });
      assert.equal(await readFile(host("a/b/c.sh"), "utf8"), "é1\n");
      assert.match(await call(tools.write_file, { path: "a/b", content: "x" }), /error: .*is a folder/);
      assert.match(await call(tools.write_file, { path: "a/b/c.sh/d", content: "x" }), /error: .*not a folder/);
    });

    it("keeps both of two edits of one file in the same answer", async () => {
      await writeFile(host("both.txt"), "one two");
      await Promise.all([
        call(tools.str_replace, { path: "both.txt", old_str: "one", new_str: "1" }),
        call(tools.str_replace, { path: "./both.txt", old_str: "two", new_str: "2" }),
      ]);
      assert.equal(await readFile(host("both.txt"), "utf8"), "1 2");
    });

    it("never mixes two writers of one file", async () => {
      const contents = ["a".repeat(200_000), "b".repeat(300_000)];
      const other = workspaceTools(threadWorkspace(base, { user: "default", id: "t" }), { remember: async () => {} });
      await Promise.all(
        [0, 1, 0, 1].map((which, index) =>
          call((index < 2 ? tools : other).write_file, { path: "raced.txt", content: contents[which] }),
        ),
      );
      assert.ok(contents.includes(await readFile(host("raced.txt"), "utf8")));
    });

    it("tells that the disk is full and leaves the old content", async () => {
      const small = join(base, "small");
      await mkdir(small);
      const full = { roots: { ...workspace.roots, outputs: { directory: small, access: "read-write" as const } } };
      const { write_file } = workspaceTools(full, { remember: async () => {} });
      const path = "/mnt/user-data/outputs/kept.txt";
      const mounted = mountSmall(small);
      try {
        assert.match(await call(write_file, { path, content: "old" }), /Wrote/);
        if (mounted)
          assert.match(await call(write_file, { path, content: "x".repeat(200_000) }), /error: .*disk is full/);
        else assert.match(await call(write_file, { path: `${path}/x`, content: "x" }), /error: .*not a folder/);
        assert.equal(await readFile(join(small, "kept.txt"), "utf8"), "old");
        assert.match(await call(write_file, { path, content: "newer" }), /Wrote/);
      } finally {
        if (mounted) run("umount", small);
      }
    });
  });

  describe("str_replace", () => {
    const edit = (text: string, old: string, by: string, all = false) => editText(text, old, { by, all });

    it("replaces literally: no patterns, no dollar signs [F7]", () => {
      const edited = edit("a.b $& c", "a.b", "$& $1 $$");
      assert.deepEqual(edited, { kind: "edited", text: "$& $1 $$ $& c", count: 1 });
    });

    it("explains what doesn't match", () => {
      const problem = (text: string, old: string): string => {
        const edited = edit(text, old, "x");
        return edited.kind === "unchanged" ? edited.problem : "";
      };
      assert.match(problem("abc", "z"), /not found.*Read the file again/);
      assert.match(problem("a\n\tif (x) {\r\n", "  if (x) {"), /Line 2 differs only in white space/);
      assert.match(problem("a\nb\na\n", "a"), /occurs 2 times \(lines 1, 3\).*replace_all/);
      assert.match(problem("a", ""), /empty/);
      assert.match(problem("x", "x"), /same/);
      assert.equal(edit("a b a", "a", "c", true).kind, "edited");
    });
  });

  describe("searching", () => {
    before(async () => {
      await mkdir(host("src/deep"), { recursive: true });
      await writeFile(host("src/a.ts"), "const needle = 1;\nlet x;\n");
      await writeFile(host("src/deep/b.ts"), `${"y".repeat(70_000)}Needle at the end`);
      await writeFile(host("src/c.md"), "needle\r\n");
    });

    it("finds files by pattern", async () => {
      const glob = async (pattern: string) =>
        (await call(tools.glob, { pattern, path: "src" })).replaceAll("/mnt/user-data/workspace/src/", "");
      assert.equal(await glob("*.ts"), "a.ts\ndeep/b.ts");
      assert.equal(await glob("**/*.{ts,md}"), "a.ts\nc.md\ndeep/b.ts");
      assert.equal(await glob("deep/*"), "deep/b.ts");
      assert.equal(await glob("?.ts"), "a.ts\ndeep/b.ts");
      assert.equal(await glob("[ac].*"), "a.ts\nc.md");
      assert.match(await glob("*.py"), /No file matches/);
      assert.match(await glob(`${"{a,".repeat(200)}`), /No file matches|error/);
    });

    it("finds lines, also far inside a long one", async () => {
      const found = await call(tools.grep, { pattern: "needle", path: "src", ignore_case: true });
      assert.match(found, /src\/a\.ts:1:const needle = 1;\n/);
      assert.match(found, /src\/c\.md:1:needle\n/);
      assert.match(found, /deep\/b\.ts:1:.*Needle at the end/);
      assert.match(await call(tools.grep, { pattern: "needle", path: "src", glob: "*.md" }), /^[^\n]*c\.md:1:needle$/);
      assert.match(await call(tools.grep, { pattern: "needle", path: "src/a.ts" }), /a\.ts:1:/);
      assert.match(await call(tools.grep, { pattern: "e", path: "/mnt/user-data", max_results: 1 }), /there are more/);
    });

    it("is not held up by a catastrophic pattern, and explains one it can't use", async () => {
      await writeFile(host("aaa.txt"), `${"a".repeat(50_000)}!\n`);
      assert.match(await call(tools.grep, { pattern: "^(a+)+$", path: "aaa.txt" }), /No line matches/);
      assert.match(await call(tools.grep, { pattern: "(a|a)*b|(x+x+)+y", path: "aaa.txt" }), /No line matches/);
      assert.match(await call(tools.grep, { pattern: "(?=a)b" }), /error: .*can't be used.*RE2/);
      assert.match(await call(tools.grep, { pattern: "(" }), /error: .*can't be used/);
    });
  });

  describe("bash", () => {
    it("works on the same files as the other tools", async () => {
      await call(tools.write_file, { path: "numbers.txt", content: "3\n1\n2\n" });
      assert.equal(
        await call(tools.bash, { command: "sort numbers.txt | tee /mnt/user-data/outputs/sorted.txt" }),
        "1\n2\n3",
      );
      assert.equal(await call(tools.read_file, { path: "/mnt/user-data/outputs/sorted.txt" }), "1\n2\n3\n");
    });

    it("reports exit code and errors", async () => {
      assert.match(
        await call(tools.bash, { command: "echo out; echo bad >&2; exit 3" }),
        /^out\n\[stderr\]\nbad\n\[exit code: 3\]$/,
      );
      assert.match(await call(tools.bash, { command: "echo x > ../history/y" }), /read-only/);
      assert.match(await call(tools.bash, { command: "if then fi (" }), /exit code/);
    });

    it("ends a loop that never ends, and works afterwards", async () => {
      assert.match(
        await call(tools.bash, { command: "while true; do :; done", timeout_seconds: 0.5 }),
        /stopped: .*0.5 seconds/,
      );
      assert.match(await call(tools.bash, { command: "sleep 1000", timeout_seconds: 0.2 }), /stopped: /);
      assert.equal(await call(tools.bash, { command: "echo alive" }), "alive");
    });

    it("ends a command that prints for ever", async () => {
      assert.match(await call(tools.bash, { command: "seq 1 1000000000" }), /stopped: .*MB/);
      assert.match(
        await call(tools.bash, { command: "while true; do echo xxxxxxxxxx; done", timeout_seconds: 1 }),
        /stopped: /,
      );
    });

    it("stops with the run", async () => {
      const stop = new AbortController();
      const running = call(tools.bash, { command: "while true; do :; done" }, stop.signal);
      stop.abort();
      assert.match(await running, /stopped/);
    });

    it("doesn't keep the process waiting for what was stopped", async () => {
      await call(tools.bash, { command: "while true; do :; done", timeout_seconds: 0.1 });
      assert.equal(process.getActiveResourcesInfo().includes("MessagePort"), false);
    });

    it("runs on the host only when that is asked for", async () => {
      const { bash } = workspaceTools(workspace, { remember: async () => {}, bash: "host" });
      assert.match(await call(bash, { command: "node --version" }), /^v\d+/);
      await call(bash, { command: "echo hi > /mnt/user-data/outputs/from-host.txt" });
      assert.equal(await readFile(join(workspace.roots.outputs.directory, "from-host.txt"), "utf8"), "hi\n");
      assert.equal(await call(bash, { command: "pwd" }), "/mnt/user-data/workspace");
      assert.match(await call(bash, { command: "sleep 100 & sleep 100", timeout_seconds: 0.3 }), /stopped/);
      assert.match(await call(bash, { command: "cat /dev/zero | tr '\\0' x" }), /stopped: .*MB/);
    });
  });

  describe("presenting and viewing", () => {
    it("presents what exists in outputs, once", async () => {
      const path = "/mnt/user-data/outputs/report.md";
      await call(tools.write_file, { path, content: "x" });
      state.length = 0;
      await call(tools.present_files, {
        paths: [path, "/mnt/user-data/outputs/./report.md", "/mnt/user-data/outputs//report.md"],
      });
      assert.deepEqual(state, [{ artifacts: [path] }]);
      assert.match(
        await call(tools.present_files, { paths: [path, "/mnt/user-data/outputs/none"] }),
        /error: .*does not exist/,
      );
      assert.match(await call(tools.present_files, { paths: ["short.txt"] }), /error: .*copy it there first/);
      assert.equal(state.length, 1);
    });

    it("shows images, and says when a file isn't one", async () => {
      const seen: { path: string; width: number }[] = [];
      const { view_image } = imageTools(workspace, async (image) => void seen.push(image));
      await writeFile(host("p.png"), Buffer.from(PNG, "base64"));
      await writeFile(host("fake.png"), "not an image");
      await writeFile(host("cut.png"), Buffer.from(PNG, "base64").subarray(0, 10));
      await call(view_image, { path: "p.png" });
      assert.match(await call(view_image, { path: "fake.png" }), /error: .*not a PNG/);
      assert.match(await call(view_image, { path: "cut.png" }), /error: .*not a PNG/);
      assert.deepEqual(
        seen.map(({ path, width }) => [path, width]),
        [["/mnt/user-data/workspace/p.png", 1]],
      );
    });
  });

  it("a fork starts with a copy of the files, without links and without the history", async () => {
    const [parent, child] = [
      threadWorkspace(base, { user: "default", id: "parent" }),
      threadWorkspace(base, { user: "default", id: "child" }),
    ];
    await prepareWorkspace(parent);
    await mkdir(join(parent.roots.workspace.directory, "deep"));
    await writeFile(join(parent.roots.workspace.directory, "deep", "a.txt"), "A");
    await writeFile(join(parent.roots["tool-outputs"].directory, "o.log"), "O");
    await writeFile(join(parent.roots.history.directory, "part-1.jsonl"), "H");
    await symlink("/etc/passwd", join(parent.roots.uploads.directory, "link"));
    await copyWorkspace(parent, child);
    assert.equal(await readFile(join(child.roots.workspace.directory, "deep", "a.txt"), "utf8"), "A");
    assert.equal(await readFile(join(child.roots["tool-outputs"].directory, "o.log"), "utf8"), "O");
    await assert.rejects(readFile(join(child.roots.history.directory, "part-1.jsonl")));
    await assert.rejects(readFile(join(child.roots.uploads.directory, "link")));
    await copyWorkspace(
      threadWorkspace(base, { user: "default", id: "nobody" }),
      threadWorkspace(base, { user: "default", id: "nobody-2" }),
    );
  });

  it("a sub-agent shares its parent's files and has a history of its own", () => {
    const own = subagentWorkspace(workspace, base, { user: "default", id: "subagent-1" });
    assert.deepEqual(own.roots.outputs, workspace.roots.outputs);
    assert.equal(own.roots.history.directory, join(base, "threads", "subagent-1", "history"));
    assert.equal(own.roots["tool-outputs"].directory, join(base, "threads", "subagent-1", "tool-outputs"));
    assert.throws(() => threadWorkspace(base, { user: "default", id: "../x" }), /thread id/);
  });
});

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Needs rights that not every machine gives; there the test makes do with another failed write. */
function mountSmall(folder: string): boolean {
  try {
    run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder);
    return true;
  } catch {
    return false;
  }
}

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { stdio: "ignore" });
}

interface Callable {
  readonly execute?: unknown;
}

/** What the model would read: the result, or the error. */
async function call(tool: Callable, input: unknown, abortSignal?: AbortSignal): Promise<string> {
  const execute = tool.execute as (input: unknown, options: unknown) => Promise<string>;
  try {
    return String(await execute(input, { toolCallId: "c", messages: [], abortSignal }));
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
}
