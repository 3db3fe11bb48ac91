import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolAct } from "../message/rules.ts";
import { readCall } from "./tool-calls.ts";

const file = (act: string, path: string, range = "whole") => ({ kind: "files", acts: [{ act, path }], range });

for (const [name, args, meaning] of [
  ["read_file", { path: "a.ts" }, file("read", "a.ts")],
  ["mcp__fs__Read_File", { file_path: "a.ts", offset: 10, limit: null }, file("read", "a.ts", "some")],
  ["text_editor", { command: "view", path: "a.ts" }, { kind: "other" }],
  ["str_replace_editor", { command: "create", path: "a.ts" }, file("write", "a.ts")],
  ["bash", { command: ["bash", "-lc", "npm test"] }, { kind: "shell", command: "npm test" }],
  ["load_chart", { path: "a.ts" }, { kind: "other" }],
] as const)
  test(`what ${name} ${JSON.stringify(args)} does is read from its name and arguments`, () => {
    assert.deepEqual(readCall({ name, input: JSON.stringify(args) }), meaning);
  });

for (const [name, args, meaning] of [
  ["text_editor", { command: "view", path: "a.ts" }, file("read", "a.ts")],
  ["fetch_sheet", { path: "a.ts" }, file("read", "a.ts")],
  ["update_cells", { path: "a.ts" }, file("edit", "a.ts")],
  ["create_sheet", { path: "a.ts" }, file("write", "a.ts")],
  ["runner", { cmd: "make" }, { kind: "shell", command: "make" }],
  ["load_chart", { path: "a.ts" }, { kind: "other" }],
] as const)
  test(`what the unknown ${name} ${JSON.stringify(args)} does can be guessed, for those who may be wrong`, () => {
    assert.deepEqual(readCall({ name, input: JSON.stringify(args) }, "guess"), meaning);
  });

for (const [act, args, meaning] of [
  ["read", { path: "a.ts" }, file("read", "a.ts")],
  ["write", { file: "a.ts" }, file("write", "a.ts")],
  ["run", { script: "make" }, { kind: "shell", command: "make" }],
  ["list", { path: "a.ts" }, { kind: "other" }],
  ["none", { path: "a.ts" }, { kind: "other" }],
] as const satisfies readonly (readonly [ToolAct, object, object])[])
  test(`a tool that says its act is ${act} is believed, whatever its name suggests`, () => {
    const input = JSON.stringify(args);
    for (const name of ["frobnicate", "delete_file"])
      for (const unknown of ["other", "guess"] as const)
        assert.deepEqual(readCall({ name, input, facts: { act } }, unknown), meaning);
  });
