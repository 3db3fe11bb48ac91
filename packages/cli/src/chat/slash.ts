import { type CallVerdict, verdictOf } from "../home/talk.ts";
import {
  clear,
  compact,
  context,
  cost,
  edit,
  exportThread,
  fork,
  memory,
  model,
  newThread,
  pin,
  redo,
  retry,
  search,
  threads,
  undo,
  unfold,
} from "./actions.ts";
import { files, upload } from "./files.ts";
import { hideMessage, noteList, ruleList, showMessage, summaryItems } from "./rules.ts";
import type { ChatSession } from "./session.ts";
import { wrapped } from "./wording.ts";

export type Meaning<Call> =
  | Exclude<Slash, { readonly kind: "text" }>
  | { readonly kind: "verdict"; readonly call: Call; readonly verdict: CallVerdict }
  | SpokenWords;

type SpokenWords = { readonly kind: "say"; readonly text: string } | { readonly kind: "nothing" };

/** Null for the line: there is no more. `call`: the one that waits for a verdict. */
export function meaningOf<Call>(line: string | null, call: Call | null): Meaning<Call> {
  if (line === null) return { kind: "quit" };
  const slash = readSlash(line);
  if (slash.kind !== "text") return slash;
  if (ESCAPED.test(line)) return { kind: "say", text: line.replace("/", "") };
  const verdict = call === null ? null : verdictOf(line);
  return call === null || verdict === null ? wordsIn(line) : { kind: "verdict", call, verdict };
}

/** A second slash says that it is text. */
const ESCAPED = /^\s*\/\/+[a-z]+(?:\s|$)/;

/** Never a command: what a command wants said may begin like one. */
export function wordsIn(text: string): SpokenWords {
  return text.trim() === "" ? { kind: "nothing" } : { kind: "say", text };
}

/*
 * The commands inside a chat: the table, and how a line is read against it. What each one does is in `actions.ts` and
 * `files.ts`.
 */

interface SlashCommand {
  readonly name: string;
  /** Its argument in the help: `[focus]`. */
  readonly argument: string;
  readonly summary: string;
  readonly run: (session: ChatSession, argument: string) => Promise<void>;
}

const slashCommands: readonly SlashCommand[] = [
  {
    name: "compact",
    argument: "[focus]",
    summary: "hide the older part behind a summary; 3-11 folds a range",
    run: compact,
  },
  { name: "undo", argument: "", summary: "take back the newest compaction", run: undo },
  { name: "redo", argument: "", summary: "take back the newest undo", run: redo },
  { name: "context", argument: "", summary: "what fills the window, part by part", run: context },
  { name: "search", argument: "WORDS", summary: "find what was ever said in this thread", run: search },
  { name: "memory", argument: "[WORDS]", summary: "what is remembered about you, or what of it fits", run: memory },
  { name: "pin", argument: "[SEQ]", summary: "every summary quotes this message; without SEQ your last one", run: pin },
  {
    name: "rules",
    argument: "[add]",
    summary: "the standing rules; add TEXT sets one; also edit, end, restore, all",
    run: ruleList,
  },
  { name: "notes", argument: "", summary: "the model's notes", run: noteList },
  {
    name: "hide",
    argument: "[SEQ]",
    summary: "hide a message from the prompt; without SEQ list the newest",
    run: hideMessage,
  },
  { name: "show", argument: "SEQ", summary: "show it again", run: showMessage },
  {
    name: "summary",
    argument: "[edit]",
    summary: "the summary's items; edit ID TEXT changes one; also add, delete",
    run: summaryItems,
  },
  { name: "fork", argument: "[SEQ]", summary: "go on in a copy that shares the past up to SEQ", run: fork },
  { name: "retry", argument: "", summary: "ask your last message again, in a fork without its answer", run: retry },
  { name: "edit", argument: "[TEXT]", summary: "change your last message and ask that, in a fork", run: edit },
  { name: "cost", argument: "", summary: "how many tokens this thread has taken", run: cost },
  {
    name: "export",
    argument: "[FILE]",
    summary: "write the thread to a file: .md, .html or .jsonl",
    run: exportThread,
  },
  { name: "files", argument: "", summary: "the thread's files", run: files },
  { name: "upload", argument: "PATH", summary: "give the agent a copy of a file", run: upload },
  { name: "unfold", argument: "", summary: "what the last answer's tools were given and gave", run: unfold },
  { name: "model", argument: "[NAME]", summary: "which models there are, or use one", run: model },
  { name: "threads", argument: "[T]", summary: "the newest threads, or go on with one", run: threads },
  { name: "clear", argument: "", summary: "an empty screen and a new thread; this one is kept", run: clear },
  { name: "new", argument: "[T]", summary: "start a new thread", run: newThread },
  { name: "help", argument: "", summary: "this list", run: help },
  { name: "quit", argument: "", summary: "leave (also Ctrl-D, or Ctrl-C twice)", run: async () => {} },
];

export type Slash =
  | { readonly kind: "text" }
  | { readonly kind: "quit" }
  | { readonly kind: "unknown"; readonly name: string }
  | { readonly kind: "command"; readonly command: SlashCommand; readonly argument: string };

/** A line that begins with a slash and a word is a command; `//` and paths are text. */
export function readSlash(line: string): Slash {
  const match = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(line.trim());
  if (match === null) return { kind: "text" };
  const [, name, argument = ""] = match;
  if (name === "quit" || name === "exit") return { kind: "quit" };
  const command = slashCommands.find((one) => one.name === name);
  return command === undefined
    ? { kind: "unknown", name: name! }
    : { kind: "command", command, argument: argument.trim() };
}

/** As they are typed: with a space behind those that take something. */
export function commandNames(): readonly string[] {
  return slashCommands.map(({ name, argument }) => `/${name}${argument === "" ? "" : " "}`);
}

async function help({ screen }: ChatSession): Promise<void> {
  for (const { name, argument, summary } of slashCommands) {
    const [first, ...others] = screen.terminal ? wrapped(summary, screen.width - NAMES) : [summary];
    await screen.line(`  ${`/${name} ${argument}`.padEnd(NAMES - 3)} ${first}`);
    for (const line of others) await screen.line(" ".repeat(NAMES) + line);
  }
  await screen.aside("  @PATH in a message gives the agent a copy of that file.");
  await screen.aside(
    "  Ctrl-J or \\ Enter: a new line · Ctrl-X Ctrl-E: an editor · Ctrl-R: search what you said · Tab completes",
  );
}

/** How wide the column of names is. */
const NAMES = 20;
