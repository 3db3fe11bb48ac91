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
