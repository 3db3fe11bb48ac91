/** The commands under `memory`, as entries of the table in `commands.ts`. */

import { type Command, command, flag, type OptionTable, text, whole } from "./command/command.ts";
import type { FactOptions, MemoryCommandOptions } from "./commands/memory.ts";

const SCOPE = {
  agent: text("A", "a custom agent's memory (default: the user's own)"),
} as const satisfies OptionTable<MemoryCommandOptions>;

const FACT = {
  category: text("C", "what kind of fact it is: preference, knowledge, context, behavior, goal, ..."),
  confidence: text("X", "how sure it is, from 0 to 1"),
} as const satisfies Omit<OptionTable<FactOptions>, keyof MemoryCommandOptions>;

export const memoryCommands: readonly Command[] = [
  command({
    name: "memory show",
    summary: "Show what is remembered",
    access: "read",
    examples: ["memory show"],
    options: SCOPE,
    load: async () => (await import("./commands/memory.ts")).showing,
  }),
  command({
    name: "memory search",
    summary: "Find facts by their words",
    access: "read",
    examples: ["memory search tea"],
    positionals: ["QUERY"],
    options: { ...SCOPE, limit: whole("N", { min: 1, short: "k" }, "at most so many (default: 20)") },
    load: async () => (await import("./commands/memory.ts")).searching,
  }),
  command({
    name: "memory add",
    summary: "Remember a fact",
    examples: ['memory add "Prefers short answers" --category preference'],
    positionals: ["TEXT"],
    options: { ...SCOPE, ...FACT },
    load: async () => (await import("./commands/memory.ts")).adding,
  }),
  command({
    name: "memory edit",
    summary: "Change a fact, or a section by its name (userContext.topOfMind)",
    examples: ['memory edit 3f2a "Prefers long answers"', 'memory edit userContext.topOfMind "The move to Oslo"'],
    positionals: ["ID", "[TEXT]"],
    options: { ...SCOPE, ...FACT },
    load: async () => (await import("./commands/memory.ts")).editing,
  }),
  command({
    name: "memory forget",
    summary: "Forget facts and learn nothing from their sources again",
    examples: ["memory forget 3f2a", "memory forget 3f2a --redact"],
    positionals: ["ID..."],
    options: { ...SCOPE, redact: flag("also erase the words themselves, in memory and threads; can't be undone") },
    load: async () => (await import("./commands/memory.ts")).forgetting,
  }),
  command({
    name: "memory history",
    summary: "List every change with its source turns",
    access: "read",
    examples: ["memory history"],
    options: SCOPE,
    load: async () => (await import("./commands/memory.ts")).listing,
  }),
  command({
    name: "memory undo",
    summary: "Take a change back (c7.2), all of one save (c7), or the newest",
    examples: ["memory undo", "memory undo c7"],
    positionals: ["[CHANGE]"],
    options: SCOPE,
    load: async () => (await import("./commands/memory.ts")).undoing,
  }),
  command({
    name: "memory export",
    summary: "Print the memory as a memory.json that other tools read",
    access: "read",
    examples: ["memory export > memory.json"],
    options: SCOPE,
    load: async () => (await import("./commands/memory.ts")).exporting,
  }),
  command({
    name: "memory import",
    summary: "Add what a memory.json holds and isn't known yet",
    examples: ["memory import memory.json"],
    positionals: ["FILE"],
    options: SCOPE,
    load: async () => (await import("./commands/memory.ts")).importing,
  }),
  command({
    name: "memory retry",
    summary: "Learn now what waits to be learned from, and what was given up",
    examples: ["memory retry"],
    load: async () => (await import("./commands/memory.ts")).retrying,
  }),
];
