/** The commands under `memory`, as entries of the table in `commands.ts`. */
import type { Command, CommandOption } from "./command/command.ts";

const SCOPE = {
  agent: { value: "A", help: "a custom agent's memory (default: the user's own)" },
} as const satisfies Record<string, CommandOption>;

const FACT = {
  category: { value: "C", help: "what kind of fact it is: preference, knowledge, context, behavior, goal, ..." },
  confidence: { value: "X", help: "how sure it is, from 0 to 1" },
} as const satisfies Record<string, CommandOption>;

export const memoryCommands: readonly Command[] = [
  {
    name: "memory show",
    summary: "Show what is remembered",
    access: "read",
    positionals: [],
    options: SCOPE,
    load: () => import("./commands/memory-show.ts"),
  },
  {
    name: "memory search",
    summary: "Find facts by their words",
    access: "read",
    positionals: ["QUERY"],
    options: { ...SCOPE, limit: { value: "N", short: "k", help: "at most so many (default: 20)" } },
    load: () => import("./commands/memory-search.ts"),
  },
  {
    name: "memory add",
    summary: "Remember a fact",
    positionals: ["TEXT"],
    options: { ...SCOPE, ...FACT },
    load: () => import("./commands/memory-add.ts"),
  },
  {
    name: "memory edit",
    summary: "Change a fact, or a section by its name (userContext.topOfMind)",
    positionals: ["ID", "[TEXT]"],
    options: { ...SCOPE, ...FACT },
    load: () => import("./commands/memory-edit.ts"),
  },
  {
    name: "memory forget",
    summary: "Forget facts and learn nothing from their sources again",
    positionals: ["ID..."],
    options: { ...SCOPE, redact: { help: "also erase the words themselves, in memory and threads; can't be undone" } },
    load: () => import("./commands/memory-forget.ts"),
  },
  {
    name: "memory history",
    summary: "List every change with its source turns",
    access: "read",
    positionals: [],
    options: SCOPE,
    load: () => import("./commands/memory-history.ts"),
  },
  {
    name: "memory undo",
    summary: "Take a change back (c7.2), all of one save (c7), or the newest",
    positionals: ["[CHANGE]"],
    options: SCOPE,
    load: () => import("./commands/memory-undo.ts"),
  },
  {
    name: "memory export",
    summary: "Print the memory as a memory.json that other tools read",
    access: "read",
    positionals: [],
    options: SCOPE,
    load: () => import("./commands/memory-export.ts"),
  },
  {
    name: "memory import",
    summary: "Add what a memory.json holds and isn't known yet",
    positionals: ["FILE"],
    options: SCOPE,
    load: () => import("./commands/memory-import.ts"),
  },
  {
    name: "memory retry",
    summary: "Learn now what waits to be learned from, and what was given up",
    positionals: [],
    options: {},
    load: () => import("./commands/memory-retry.ts"),
  },
];
