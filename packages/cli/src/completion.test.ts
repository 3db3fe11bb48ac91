import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { commands } from "./commands.ts";
import { completionScript } from "./completion.ts";

const HAS_BASH = spawnSync("bash", ["--version"]).status === 0;

/** What bash offers for the words, the last of which is being typed. */
function offered(...words: readonly string[]): string[] {
  const script = `${completionScript("bash", commands)}
COMP_WORDS=(palimpsest ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}
_palimpsest; printf '%s\\n' "\${COMPREPLY[@]}"`;
  // Bash warns of a locale that the machine doesn't have.
  const env = { ...process.env, LC_ALL: "C" };
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], { encoding: "utf8", env });
  assert.equal(stderr, "");
  return stdout.trim().split("\n");
}

test("bash completes commands, their second words, and the options of the one that is typed", {
  skip: HAS_BASH ? false : "no bash here",
}, () => {
  assert.deepEqual(offered("thr"), ["threads"]);
  assert.deepEqual(offered("threads", "de"), ["delete"]);
  assert.ok(offered("threads", "--t").includes("--tree"));
  assert.deepEqual(offered("threads", "delete", "--old"), ["--older-than"]);
  assert.ok(offered("lab", "x.jsonl", "--h").includes("--html"));
  assert.ok(offered("lab", "x.jsonl", "--h").includes("--home"));
});

test("each shell gets every command and option", () => {
  for (const shell of ["bash", "zsh", "fish"] as const) {
    const script = completionScript(shell, commands);
    for (const { name, options } of commands)
      for (const word of [...name.split(" "), ...Object.keys(options)])
        assert.ok(script.includes(word), `${shell} ${word}`);
  }
});
