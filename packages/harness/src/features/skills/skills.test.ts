import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parseSkill, readSkillFile, readSkills, renderSkills } from "./middleware.ts";

const skill = (name: string, description = "does things", body = "Do it."): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;

describe("skills", () => {
  let base: string;
  before(async () => {
    base = await mkdtemp(join(tmpdir(), "skills-"));
    await writeFile(join(base, "outside.md"), skill("outside"));
    const add = async (folder: string, text: string | Uint8Array) => {
      await mkdir(join(base, "skills", folder), { recursive: true });
      await writeFile(join(base, "skills", folder, "SKILL.md"), text);
    };
    await add("good", skill("good", "makes reports", "Step one."));
    await add("twin", skill("good"));
    await add("broken-yaml", "---\nname: [unclosed\n---\nx");
    await add("no-front-matter", "just text");
    await add("no-description", "---\nname: x\n---\n");
    await add("bad-name", skill("../evil"));
    await add("binary", Buffer.from([0, 1, 2]));
    await add("huge", skill("huge", "big", "x".repeat(400_000)));
    await mkdir(join(base, "skills", "empty"));
    await mkdir(join(base, "skills", "linked-file"));
    await symlink(join(base, "outside.md"), join(base, "skills", "linked-file", "SKILL.md"));
    await mkdir(join(base, "elsewhere"));
    await writeFile(join(base, "elsewhere", "SKILL.md"), skill("elsewhere"));
    await symlink(join(base, "elsewhere"), join(base, "skills", "linked-folder"));
    await writeFile(join(base, "skills", "good", "template.md"), "the template");
    await writeFile(join(base, "skills", "a-file"), "not a skill");
  });
  after(async () => rm(base, { recursive: true, force: true }));

  it("are read; bad ones are reported and skipped", async () => {
    const { skills, skipped } = await readSkills(join(base, "skills"));
    assert.deepEqual(
      skills.map(({ name, description, body }) => [name, description, body]),
      [["good", "makes reports", "Step one."]],
    );
    const problems = Object.fromEntries(skipped.map(({ folder, problem }) => [folder, problem]));
    const expected: Record<string, RegExp> = {
      "bad-name": /name/,
      binary: /binary/,
      "broken-yaml": /not valid YAML/,
      empty: /does not exist/,
      huge: /bytes/,
      "linked-file": /link/,
      "linked-folder": /link/,
      "no-description": /description/,
      "no-front-matter": /front matter/,
      twin: /taken by the folder good/,
    };
    assert.deepEqual(Object.keys(problems).sort(), Object.keys(expected).sort());
    for (const [folder, pattern] of Object.entries(expected)) assert.match(problems[folder]!, pattern);
    assert.deepEqual(await readSkills(join(base, "none")), { skills: [], skipped: [] });
  });

  it("read files of their own folder and no others", async () => {
    const folder = join(base, "skills");
    assert.equal(await readSkillFile(folder, "good", "./template.md"), "the template");
    for (const path of ["../../outside.md", "/etc/passwd", "a/../../../outside.md", "..\\x", "x\0"]) {
      await assert.rejects(readSkillFile(folder, "good", path), /outside of the skill's folder/);
    }
  });

  it("accept YAML as people write it", () => {
    const parsed = parseSkill(
      "---\r\nname: x\r\ndescription: >\r\n  two\r\n  lines: yes\r\nlicense: MIT\r\n---\r\nbody",
    );
    assert.deepEqual(parsed, { kind: "skill", skill: { name: "x", description: "two lines: yes", body: "body" } });
  });

  it("stand in the prompt by name, and whole once a compaction has hidden their loading [F21]", () => {
    const skills = [{ name: "a", description: "does a", body: "How to a. </skills>" }];
    const view = { skills, loaded: [{ name: "a", seq: 5 }], maxChars: 100 };
    assert.doesNotMatch(renderSkills({ ...view, hiddenThrough: 4 }), /How to a/);
    const after = renderSkills({ ...view, hiddenThrough: 9 });
    assert.match(after, /- a: does a/);
    assert.match(after, /How to a\. &lt;\/skills>/);
    assert.match(renderSkills({ ...view, hiddenThrough: 9, maxChars: 3 }), /load it again/);
    assert.equal(renderSkills({ ...view, skills: [], hiddenThrough: 9 }), "");
  });
});
