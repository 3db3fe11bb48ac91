/** The commands under `threads` and `store`, as entries of the table in `commands.ts`. */
import { type Command, command } from "./command/command.ts";
import { flag, whole } from "./command/options.ts";

export const threadCommands: readonly Command[] = [
  command({
    name: "threads",
    summary: "List the threads, the most recently changed first",
    access: "read",
    examples: ["threads --limit 20", "threads --tree", "threads --older-than 90 --sizes"],
    positionals: [],
    options: {
      limit: whole("N", { min: 1 }, "at most so many (default: all)"),
      all: flag("of every user"),
      tree: flag("forks and sub-agents under the thread they come from"),
      "older-than": whole("DAYS", { min: 0 }, "only those that were not changed for so long"),
      sizes: flag("what each takes, with its files"),
    },
    load: async () => (await import("./commands/threads.ts")).listing,
  }),
  command({
    name: "threads rename",
    summary: "Give a thread another title; its id stays",
    examples: ['threads rename notes "The bridge and its opening"'],
    positionals: ["T", "TITLE"],
    options: {},
    load: async () => (await import("./commands/threads.ts")).renaming,
  }),
  command({
    name: "threads prune",
    summary: "Delete old sub-agent threads of every user; those their parent can still continue stay",
    examples: ["threads prune --days 7"],
    positionals: [],
    options: {
      days: whole("N", { min: 0 }, "not changed for so many days (default: subagents.retention_days)"),
      all: flag("also those that were interrupted and could be continued"),
    },
    load: async () => (await import("./commands/threads.ts")).pruning,
  }),
  command({
    name: "threads delete",
    summary: "Delete threads for good; their forks keep what they shared",
    examples: ["threads delete old-session", "threads delete 'ft-*' --yes", "threads delete --older-than 365"],
    positionals: ["[T...]"],
    options: {
      "older-than": whole("DAYS", { min: 0 }, "those that were not changed for so long; with T only of those"),
      yes: flag("don't ask; needed for several outside of a terminal"),
    },
    load: async () => (await import("./commands/threads.ts")).deleting,
  }),
];

export const shapingCommands: readonly Command[] = [
  command({
    name: "rules",
    summary: "The standing rules of a thread; they stand word for word in every prompt after a compaction",
    access: "read",
    examples: ["rules notes", "rules notes --all"],
    positionals: ["T"],
    options: { all: flag("also those that ended") },
    load: async () => (await import("./commands/rules.ts")).listing,
  }),
  command({
    name: "rules add",
    summary: "Set a standing rule",
    examples: ['rules add notes "Never push to main."'],
    positionals: ["T", "TEXT"],
    options: {},
    load: async () => (await import("./commands/rules.ts")).adding,
  }),
  command({
    name: "rules edit",
    summary: "Give a rule other words",
    examples: ['rules edit notes r1 "Never push to main or release."'],
    positionals: ["T", "RULE", "TEXT"],
    options: {},
    load: async () => (await import("./commands/rules.ts")).editing,
  }),
  command({
    name: "rules end",
    summary: "End a rule: it is no longer shown",
    examples: ["rules end notes r1"],
    positionals: ["T", "RULE"],
    options: {},
    load: async () => (await import("./commands/rules.ts")).ending,
  }),
  command({
    name: "rules restore",
    summary: "Put an ended rule or a proposal in force",
    examples: ["rules restore notes r1"],
    positionals: ["T", "RULE"],
    options: {},
    load: async () => (await import("./commands/rules.ts")).restoring,
  }),
  command({
    name: "notes",
    summary: "The model's notes in a thread",
    access: "read",
    examples: ["notes bridge"],
    positionals: ["T"],
    options: {},
    load: async () => (await import("./commands/notes.ts")).listing,
  }),
  command({
    name: "notes write",
    summary: "Write a note; an empty text deletes it",
    examples: ['notes write bridge plan "Measure, then cut." --revision 2'],
    positionals: ["T", "NAME", "TEXT"],
    options: { revision: whole("N", { min: 0 }, "the revision you have read (default: 0, a new note)") },
    load: async () => (await import("./commands/notes.ts")).writing,
  }),
  command({
    name: "hide",
    summary: "Hide a message from the prompt; the log keeps it",
    examples: ["hide notes 12", "hide notes 12.0 --dry-run"],
    positionals: ["T", "SEQ[.PART]"],
    options: { "dry-run": flag("say what it would come to and write nothing") },
    load: async () => (await import("./commands/hide.ts")).hiding,
  }),
  command({
    name: "show",
    summary: "Show a message again that was hidden or folded",
    examples: ["show notes 12"],
    positionals: ["T", "SEQ[.PART]"],
    options: {},
    load: async () => (await import("./commands/hide.ts")).showing,
  }),
];

export const storeCommands: readonly Command[] = [
  command({
    name: "store copy",
    summary: "Copy all threads from one store to another; may be interrupted and run again",
    examples: ["store copy palimpsest.db postgres://me@localhost/threads"],
    positionals: ["FROM", "TO"],
    options: {},
    load: () => import("./commands/store-copy.ts"),
  }),
  command({
    name: "store backup",
    summary: "Copy all threads and memories into a new SQLite file, verified",
    access: "read",
    examples: ["store backup", "store backup /backups/monday.db"],
    positionals: ["[FILE]"],
    options: {},
    load: () => import("./commands/store-backup.ts"),
  }),
  command({
    name: "store init",
    summary: "Make the store's tables, or bring them up to date with the indexes that are missing, beside other work",
    examples: ["store init", "store init --distributed", "store init --partitions 16"],
    positionals: [],
    options: {
      distributed: flag("a new PostgreSQL store spread over the nodes of Citus, by user"),
      partitions: whole("N", { min: 2 }, "a new PostgreSQL store's large tables in so many parts, by thread"),
    },
    load: () => import("./commands/store-init.ts"),
  }),
  command({
    name: "store vacuum",
    // One statement of the database, which takes it back when the process is gone.
    interrupt: "at-once",
    summary: "Give back the space of what was deleted",
    examples: ["store vacuum"],
    positionals: [],
    options: {},
    load: () => import("./commands/store-vacuum.ts"),
  }),
];
