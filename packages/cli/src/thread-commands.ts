/** The commands `threads`, `rules`, `notes`, `hide`, `show`, `summary` and `store`. A part of the table in `commands.ts`. */

import { type Command, command, flag, text, whole } from "./command/command.ts";

export const threadCommands: readonly Command[] = [
  command({
    name: "threads",
    summary: "List the threads, the most recently changed first",
    access: "read",
    examples: ["threads --limit 20", "threads --tree", "threads --older-than 90 --sizes"],
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
    load: async () => (await import("./commands/threads.ts")).renaming,
  }),
  command({
    name: "threads prune",
    summary: "Delete old sub-agent threads of every user; those their parent can still continue stay",
    examples: ["threads prune --days 7"],
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
    load: async () => (await import("./commands/acts.ts")).listingRules,
  }),
  command({
    name: "rules add",
    summary: "Set a standing rule",
    examples: ['rules add notes "Never push to main."'],
    positionals: ["T", "TEXT"],
    load: async () => (await import("./commands/acts.ts")).adding,
  }),
  command({
    name: "rules edit",
    summary: "Give a rule other words",
    examples: ['rules edit notes r1 "Never push to main or release."'],
    positionals: ["T", "RULE", "TEXT"],
    load: async () => (await import("./commands/acts.ts")).editing,
  }),
  command({
    name: "rules end",
    summary: "End a rule: it is no longer shown",
    examples: ["rules end notes r1"],
    positionals: ["T", "RULE"],
    load: async () => (await import("./commands/acts.ts")).ending,
  }),
  command({
    name: "rules restore",
    summary: "Put an ended rule or a proposal in force",
    examples: ["rules restore notes r1"],
    positionals: ["T", "RULE"],
    load: async () => (await import("./commands/acts.ts")).restoring,
  }),
  command({
    name: "notes",
    summary: "The model's notes in a thread",
    access: "read",
    examples: ["notes bridge"],
    positionals: ["T"],
    load: async () => (await import("./commands/acts.ts")).listingNotes,
  }),
  command({
    name: "notes write",
    summary: "Write a note; an empty text deletes it",
    examples: ['notes write bridge plan "Measure, then cut." --revision 2'],
    positionals: ["T", "NAME", "TEXT"],
    options: { revision: whole("N", { min: 0 }, "the revision you have read (default: 0, a new note)") },
    load: async () => (await import("./commands/acts.ts")).writing,
  }),
  command({
    name: "hide",
    summary: "Hide a message from the prompt; the log keeps it",
    examples: ["hide notes 12", "hide notes 12.0 --dry-run"],
    positionals: ["T", "SEQ[.PART]"],
    options: { "dry-run": flag("say what it would come to and write nothing") },
    load: async () => (await import("./commands/acts.ts")).hiding,
  }),
  command({
    name: "show",
    summary: "Show a message again that was hidden or folded",
    examples: ["show notes 12"],
    positionals: ["T", "SEQ[.PART]"],
    load: async () => (await import("./commands/acts.ts")).showing,
  }),
  command({
    name: "summary",
    summary: "The items of the summary that stands for what is hidden, with their ids",
    access: "read",
    examples: ["summary notes"],
    positionals: ["T"],
    load: async () => (await import("./commands/summary.ts")).listing,
  }),
  command({
    name: "summary edit",
    summary: "Give an item of the summary other words",
    examples: ['summary edit notes g1 "The bridge is 40 meters long."'],
    positionals: ["T", "ITEM", "TEXT"],
    options: { "dry-run": flag("say what it would come to and write nothing") },
    load: async () => (await import("./commands/summary.ts")).editing,
  }),
  command({
    name: "summary add",
    summary: "Add an item to the summary",
    examples: ['summary add notes "The bridge is 40 meters long." --section facts'],
    positionals: ["T", "TEXT"],
    options: {
      section: text("NAME", "goals, decisions, files, facts, errors, now or next (default: facts)"),
      "dry-run": flag("say what it would come to and write nothing"),
    },
    load: async () => (await import("./commands/summary.ts")).adding,
  }),
  command({
    name: "summary delete",
    summary: "Take an item out of the summary; the log keeps what it was made of",
    examples: ["summary delete notes g1"],
    positionals: ["T", "ITEM"],
    options: { "dry-run": flag("say what it would come to and write nothing") },
    load: async () => (await import("./commands/summary.ts")).deleting,
  }),
];

export const storeCommands: readonly Command[] = [
  command({
    name: "store copy",
    summary: "Copy all threads from one store to another; may be interrupted and run again",
    examples: ["store copy palimpsest.db postgres://me@localhost/threads"],
    positionals: ["FROM", "TO"],
    load: async () => (await import("./commands/stores.ts")).copying,
  }),
  command({
    name: "store backup",
    summary: "Copy all threads and memories into a new SQLite file, verified",
    access: "read",
    examples: ["store backup", "store backup /backups/monday.db"],
    positionals: ["[FILE]"],
    load: async () => (await import("./commands/stores.ts")).backingUp,
  }),
  command({
    name: "store init",
    summary: "Make the store's tables, or bring them up to date with the indexes that are missing, beside other work",
    examples: ["store init", "store init --distributed", "store init --partitions 16"],
    options: {
      distributed: flag("a new PostgreSQL store spread over the nodes of Citus, by user"),
      partitions: whole("N", { min: 2 }, "a new PostgreSQL store's large tables in so many parts, by thread"),
    },
    load: async () => (await import("./commands/stores.ts")).initializing,
  }),
  command({
    name: "store vacuum",
    // One statement of the database, which takes it back when the process is gone.
    interrupt: "at-once",
    summary: "Give back the space of what was deleted",
    examples: ["store vacuum"],
    load: async () => (await import("./commands/stores.ts")).vacuuming,
  }),
];
