/**
 * The table of commands, in the order of the help. To add one: write `commands/<name>.ts` with an exported `run`, add an
 * entry here, describe its JSON in docs/cli.md. A name may have two words (`config check`). `load` imports the file only
 * when the command is called, so a command's dependencies never slow the others down.
 */
import type { Command, CommandOption } from "./command/command.ts";
import { memoryCommands } from "./memory-commands.ts";

const WINDOW: CommandOption = { value: "N", help: "as a window of N tokens would force it; nothing is written" };

const TALK = {
  thread: { value: "T", help: "the thread to go on with, made when it isn't there (default: a new one)" },
  agent: { value: "A", help: "which agent's thread a new one is (default: default)" },
  model: { value: "M", help: "a name from models: (default: the first; none configured: the offline model)" },
  wait: { value: "SECONDS", help: "how long to wait for a thread that another run holds (default: 35; 0: not at all)" },
} as const satisfies Record<string, CommandOption>;

export const commands: readonly Command[] = [
  {
    name: "run",
    summary: "Ask the agent once and print its answer",
    positionals: ["PROMPT"],
    options: TALK,
    load: () => import("./commands/run.ts"),
  },
  {
    name: "chat",
    summary: "Talk with the agent; from a pipe, one prompt a line",
    positionals: [],
    options: TALK,
    load: () => import("./commands/chat.ts"),
  },
  {
    name: "import",
    summary: "Read a file of OpenAI chat, Anthropic or AI SDK messages into a new thread",
    positionals: ["FILE"],
    options: {
      thread: { value: "T", help: "the new thread's id (required); a file of conversations makes T-1 ... T-n" },
      learn: { help: "let memory learn from the user's words in it; without this nothing is learned from an import" },
      "skip-invalid": { help: "import what is valid and report the rest, instead of importing nothing" },
      agent: { value: "A", help: "which agent's thread it is (default: default)" },
    },
    load: () => import("./commands/import.ts"),
  },
  {
    name: "threads",
    summary: "List the threads, the most recently changed first",
    access: "read",
    positionals: [],
    options: {
      limit: { value: "N", help: "at most so many (default: all)" },
      all: { help: "of every user" },
      tree: { help: "forks and sub-agents under the thread they come from" },
    },
    load: () => import("./commands/threads.ts"),
  },
  {
    name: "threads prune",
    summary: "Delete old sub-agent threads of every user; those their parent can still continue stay",
    positionals: [],
    options: {
      days: { value: "N", help: "not changed for so many days (default: subagents.retention_days)" },
      all: { help: "also those that were interrupted and could be continued" },
    },
    load: () => import("./commands/threads-prune.ts"),
  },
  {
    name: "threads delete",
    summary: "Delete a thread for good; its forks keep what they shared",
    positionals: ["T"],
    options: {},
    load: () => import("./commands/threads-delete.ts"),
  },
  {
    name: "view",
    summary: "Show what would be sent to the model now",
    access: "read",
    positionals: ["T"],
    options: { window: WINDOW },
    load: () => import("./commands/view.ts"),
  },
  {
    name: "context",
    summary: "Show what fills the window, as a bar",
    access: "read",
    positionals: ["T"],
    options: { window: WINDOW },
    load: () => import("./commands/context.ts"),
  },
  {
    name: "replay",
    summary: "Print everything ever said, in order, as given",
    access: "read",
    positionals: ["T"],
    options: { raw: { help: "the stored messages byte for byte, one a line" } },
    load: () => import("./commands/replay.ts"),
  },
  {
    name: "verify",
    summary: "Check the thread's hash chain, record by record",
    access: "read",
    positionals: ["T"],
    options: {},
    load: () => import("./commands/verify.ts"),
  },
  {
    name: "search",
    summary: "Find what was ever said, in one thread or in all",
    access: "read",
    positionals: ["[T]", "QUERY"],
    options: {
      limit: { value: "N", short: "k", help: "at most so many hits (default: 10)" },
      all: { help: "in all threads of the user, instead of T" },
    },
    load: () => import("./commands/search.ts"),
  },
  {
    name: "compact",
    summary: "Hide the older part of a thread behind a summary; undo takes it back",
    positionals: ["T"],
    options: {
      "dry-run": { help: "show what would come of it, without a model, and write nothing" },
      focus: { value: "S", help: "what the summary should keep in view" },
      window: { value: "N", help: "the model's window in tokens (default: the configured model's)" },
    },
    load: () => import("./commands/compact.ts"),
  },
  {
    name: "undo",
    summary: "Take back the newest compaction or prune, or the one at SEQ",
    positionals: ["T", "[SEQ]"],
    options: { redo: { help: "take back the newest undo instead" } },
    load: () => import("./commands/undo.ts"),
  },
  {
    name: "redo",
    summary: "Take back the newest undo",
    positionals: ["T"],
    options: {},
    load: () => import("./commands/redo.ts"),
  },
  {
    name: "fork",
    summary: "Make a thread that shares this one's records up to a seq",
    positionals: ["T"],
    options: {
      at: { value: "SEQ", help: "the last record to share (required)" },
      as: { value: "T2", help: "the new thread's id (default: T-fork-SEQ, numbered if taken)" },
    },
    load: () => import("./commands/fork.ts"),
  },
  {
    name: "pin",
    summary: "Pin a message, so that every summary quotes it word for word",
    positionals: ["T", "SEQ"],
    options: { off: { help: "take the pin off" } },
    load: () => import("./commands/pin.ts"),
  },
  {
    name: "redact",
    summary: "Erase a message's text for good; the chain stays whole and verify reports it",
    positionals: ["T", "SEQ"],
    options: {},
    load: () => import("./commands/redact.ts"),
  },
  {
    name: "demo",
    summary: "Play a long conversation in a small window, without a key, and prove that nothing is lost",
    positionals: [],
    options: { seasons: { value: "N", help: "how many of its four parts to play (default: all)" } },
    load: () => import("./commands/demo.ts"),
  },
  {
    name: "lab",
    summary: "Replay transcripts under several policies: cost, knowledge, validity",
    positionals: ["FILE..."],
    options: {
      policy: { value: "FILE", multiple: true, help: "a summarization block to play too; may stand several times" },
      window: { value: "N", help: "the model's window (default: 200000)" },
      limit: { value: "N", short: "k", help: "hits of a search that count as found (default: 5)" },
      html: { value: "OUT", help: "also write one self-contained page with plots" },
    },
    load: () => import("./commands/lab.ts"),
  },
  {
    name: "doctor",
    summary: "Check the configuration, the home, the database and its threads",
    positionals: [],
    options: { rebuild: { help: "make heads, search index and part files anew from the logs" } },
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "trust",
    summary: "Allow what a configuration or home that was found would do, as it is now",
    positionals: ["[FILE|DIR]"],
    options: {
      "dry-run": { help: "only show what it would be allowed to do" },
      remove: { help: "trust it no longer" },
    },
    load: () => import("./commands/trust.ts"),
  },
  ...memoryCommands,
  {
    name: "store copy",
    summary: "Copy all threads from one store to another; may be interrupted and run again",
    positionals: ["FROM", "TO"],
    options: {},
    load: () => import("./commands/store-copy.ts"),
  },
  {
    name: "config check",
    summary: "Say what is wrong in a configuration file, one problem a line",
    positionals: ["[FILE]"],
    options: {},
    load: () => import("./commands/config-check.ts"),
  },
  {
    name: "config schema",
    summary: "Print the JSON Schema of config.yaml, for editors",
    positionals: [],
    options: {},
    load: () => import("./commands/config-schema.ts"),
  },
  {
    name: "config upgrade",
    summary: "Bring config.yaml to the present version; the old file stays beside it",
    positionals: ["[FILE]"],
    options: {},
    load: () => import("./commands/config-upgrade.ts"),
  },
];
