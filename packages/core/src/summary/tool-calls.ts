/**
 * Reads a tool call: which files it touches, or which shell command it runs. What the tool says of itself holds; else its
 * name is looked up among the spellings that agents use, since a log may come from any of them. A call that is in neither
 * is `other`, or guessed from the verb in its name; broken argument JSON is searched for the same keys.
 */
import type { ToolAct } from "../message/rules.ts";
import type { CallPart } from "../message/shape.ts";
import { isRecord } from "../text/names.ts";
import { type FileAct, shellEffects } from "./shell.ts";

type CallMeaning =
  /** `range`: whether only some lines are asked for. */
  | { readonly kind: "files"; readonly acts: readonly FileAct[]; readonly range: "whole" | "some" }
  | { readonly kind: "shell"; readonly command: string }
  | { readonly kind: "other" };

const READ =
  "read readfile viewfile view cat open openfile fsread readtextfile readmanyfiles getfilecontents fileread readfiles notebookread viewimage";
const WRITE =
  "write writefile createfile writetofile create savefile newfile filewrite fswrite createtextfile copy copyfile";
const EDIT =
  "edit editfile strreplace strreplaceeditor strreplacebasededittool replaceinfile replace multiedit applydiff applypatch patch notebookedit searchreplace searchandreplace insert insertintofile fileedit fsedit undoedit appendfile append";
const DELETE = "delete deletefile remove removefile rm unlink filedelete";
const MOVE = "move movefile rename renamefile mv";
const SHELL =
  "bash shell sh zsh execute exec runcommand runshellcommand executecommand execcommand terminal runterminalcmd runinterminal localshell localshellcall containerexec runbash powershell cmd executebash shellcommand runshell command bashtool";

type CallAct = Exclude<ToolAct, "list" | "none">;

const ACTS = new Map<string, CallAct>(
  (
    [
      [READ, "read"],
      [WRITE, "write"],
      [EDIT, "edit"],
      [DELETE, "delete"],
      [MOVE, "move"],
      [SHELL, "run"],
    ] as const
  ).flatMap(([names, act]) => names.split(" ").map((name) => [name, act] as const)),
);

const PATH_KEYS = [
  "path",
  "file_path",
  "filePath",
  "filepath",
  "filename",
  "fileName",
  "file",
  "target_file",
  "targetFile",
  "absolute_path",
  "notebook_path",
  "uri",
];
const FROM_KEYS = ["source", "from", "old_path", "oldPath", "src", "source_path", ...PATH_KEYS];
const TO_KEYS = ["destination", "to", "new_path", "newPath", "dest", "target", "destination_path", "target_path"];
const LIST_KEYS = ["paths", "files", "file_paths", "filePaths", "edits", "changes"];
const COMMAND_KEYS = ["command", "cmd", "script", "code", "commands", "input"];
const SLICE_KEYS = ["offset", "limit", "start_line", "end_line", "view_range", "startLine", "endLine", "start", "end"];
const PATCH_KEYS = ["patch", "input", "diff", "patchText", "patch_text", "command"];

/** What agents call the argument that holds what a tool of theirs writes, or puts into a file. */
const TEXT_KEYS = [
  "content",
  "contents",
  "file_text",
  "fileText",
  "new_string",
  "newString",
  "new_str",
  "newStr",
  "newText",
  "new_text",
  "insert_text",
  "replacement",
  "replace",
  "code_edit",
  "text",
];

type SummarizedCall = Pick<CallPart, "name" | "input" | "facts">;

/**
 * What a call has written into a file, or run; null for every other call, and where it can't be told. That it writes is
 * said by the tool, or by its name where that is well known, never guessed.
 */
export function writtenText(call: SummarizedCall): string | null {
  const act = call.facts?.act ?? ACTS.get(plainName(call.name));
  if (act !== "write" && act !== "edit" && act !== "run") return null;
  const args = argumentsOf(call.input);
  const said = call.facts?.text === undefined ? null : args[call.facts.text];
  if (typeof said === "string") return told(said);
  if (act === "run") return told(commandText(args));
  const edits = Array.isArray(args["edits"]) ? args["edits"].filter(isRecord) : [];
  const texts = [args, ...edits].flatMap((each) => anyString(each, TEXT_KEYS) ?? []);
  return told(texts.length > 0 ? texts.join("\n") : (anyString(args, PATCH_KEYS) ?? ""));
}

function told(text: string): string | null {
  return text.trim() === "" ? null : text;
}

function anyString(args: Record<string, unknown>, keys: readonly string[]): string | null {
  const key = keys.find((each) => typeof args[each] === "string" && args[each] !== "");
  return key === undefined ? null : (args[key] as string);
}

/** Agents bring their own tools, so no list of names is complete. Who may be wrong about one asks to `guess`. */
export function readCall(call: SummarizedCall, unknown: "other" | "guess" = "other"): CallMeaning {
  const knownAct = call.facts?.act ?? ACTS.get(plainName(call.name));
  if (knownAct === undefined && unknown === "other") return { kind: "other" };
  const args = argumentsOf(call.input);
  const act = knownAct ?? guessed(call.name, args);
  if (act === "none" || act === "list") return { kind: "other" };
  if (act === "run") {
    const command = commandText(args);
    return command === "" ? { kind: "other" } : { kind: "shell", command };
  }
  const acts = fileActs(act, args);
  const range = SLICE_KEYS.every((key) => args[key] == null) ? "whole" : "some";
  return acts.length === 0 ? { kind: "other" } : { kind: "files", acts, range };
}

function guessed(name: string, args: Record<string, unknown>): ToolAct {
  const command = firstString(args, ["command", "cmd", "script"]);
  if (firstString(args, PATH_KEYS) === "") return command === "" ? "none" : "run";
  // A tool may do both (`text_editor` with a `command`): the verb in its arguments decides.
  const verb = `${name} ${command}`;
  if (/write|create/i.test(verb)) return "write";
  if (/edit|replace|patch|insert|append|update|delete/i.test(verb) && !/^view|read/i.test(command)) return "edit";
  if (/read|view|open|cat|show|get_file|fetch/i.test(verb)) return "read";
  return command === "" ? "none" : "run";
}

function fileActs(told: Exclude<CallAct, "run">, args: Record<string, unknown>): FileAct[] {
  if (told === "move") {
    const [path, to] = [firstString(args, FROM_KEYS), firstString(args, TO_KEYS)];
    return path === "" || to === "" ? [] : [{ act: "move", path, to }];
  }
  // One tool for everything, told apart by a `command` argument (view, create, str_replace, insert, undo_edit).
  const verb = typeof args["command"] === "string" ? ACTS.get(plainName(args["command"])) : undefined;
  const act = verb === undefined || verb === "run" || verb === "move" ? told : verb;
  const paths = new Set<string>();
  const target = act === "write" ? firstString(args, TO_KEYS) : "";
  const single = target === "" ? firstString(args, PATH_KEYS) : target;
  if (single !== "") paths.add(single);
  for (const key of LIST_KEYS) {
    const list = args[key];
    if (!Array.isArray(list)) continue;
    for (const entry of list) {
      const path = typeof entry === "string" ? entry : isRecord(entry) ? firstString(entry, PATH_KEYS) : "";
      if (path !== "") paths.add(path);
    }
  }
  if (paths.size > 0) return [...paths].map((path) => ({ act, path }));
  return act === "edit"
    ? patchActs(PATCH_KEYS.map((key) => args[key]).find((value) => typeof value === "string" && value.includes("\n")))
    : [];
}

/** The files of a patch: `*** Update File: x` envelopes, or unified diffs. */
function patchActs(patch: unknown): FileAct[] {
  if (typeof patch !== "string") return [];
  const acts: FileAct[] = [];
  for (const match of patch.matchAll(
    /^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$|^\+\+\+ (?:b\/)?(\S+)/gm,
  )) {
    const [, verb, path, to, diffed] = match;
    const previous = acts.at(-1);
    if (to !== undefined && previous !== undefined) acts.push({ act: "move", path: previous.path, to: to.trim() });
    else if (diffed !== undefined && diffed !== "/dev/null") acts.push({ act: "edit", path: diffed });
    else if (path !== undefined) {
      const act = verb === "Add" ? "write" : verb === "Delete" ? "delete" : "edit";
      acts.push({ act, path: path.trim() });
    }
  }
  return acts;
}

/** A shell command's file effects; a patch piped into `apply_patch` counts too. */
export function commandEffects(command: string): ReturnType<typeof shellEffects> {
  const effects = shellEffects(command);
  return command.includes("*** Begin Patch")
    ? { ...effects, files: [...effects.files, ...patchActs(command)] }
    : effects;
}

function commandText(args: Record<string, unknown>): string {
  for (const key of COMMAND_KEYS) {
    const value = args[key];
    if (typeof value === "string" && value.trim() !== "") return value;
    if (!Array.isArray(value) || value.length === 0) continue;
    const words = value.filter((word): word is string => typeof word === "string");
    // ["bash", "-lc", "..."]: the script is what matters.
    return words.length === 3 && /^-\w*c$/.test(words[1]!) ? words[2]! : words.join(" ");
  }
  return isRecord(args["action"]) ? commandText(args["action"]) : "";
}

/** Parsed arguments; of broken or cut-off JSON the string values that can still be read. */
function argumentsOf(input: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(input);
    if (isRecord(value)) return value;
    return typeof value === "string" ? { command: value, path: value } : {};
  } catch {
    const fields: Record<string, unknown> = {};
    for (const match of input.slice(0, 100_000).matchAll(/"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)"/gs)) {
      fields[match[1]!] ??= unescaped(match[2]!);
    }
    return fields;
  }
}

function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

/** `mcp__fs__Read_File` and `functions.read_file` are both `readfile`. */
function plainName(name: string): string {
  const last = name.split(/__|[.:/]/).at(-1) ?? name;
  return last.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

function firstString(args: Record<string, unknown>, keys: readonly string[]): string {
  for (const key of keys) {
    const value = args[key];
    if (typeof value === "string" && value !== "" && value.length <= 1000 && !value.includes("\n")) return value;
  }
  return "";
}
