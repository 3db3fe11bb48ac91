/**
 * Older failures that were alike become one entry: the same program or tool that failed with the same words, numbers
 * and quoted names aside. The newest ones stay as they are.
 */
import type { CommandEntry } from "./ledger-state.ts";

/** In their order, in which entries that stand for many come first. */
export function mergeFailures(commands: readonly CommandEntry[], limit: number): readonly CommandEntry[] {
  const failing = commands.filter(({ fails, alike }) => fails > 0 && alike === undefined);
  if (failing.length <= limit) return commands;
  const older = new Set(failing.slice(0, failing.length - limit));
  const groups = new Map<string, CommandEntry>();
  for (const command of commands) {
    if (command.alike === undefined && !older.has(command)) continue;
    const key = likeness(command);
    const group = groups.get(key);
    groups.delete(key);
    groups.set(key, group === undefined ? command : joined(group, command));
  }
  return [...groups.values(), ...commands.filter((command) => command.alike === undefined && !older.has(command))];
}

/** The newest stands for all. */
function joined(older: CommandEntry, newer: CommandEntry): CommandEntry {
  return {
    ...newer,
    times: older.times + newer.times,
    fails: older.fails + newer.fails,
    seqs: [Math.min(older.seqs[0]!, newer.seqs[0]!), Math.max(older.seqs.at(-1)!, newer.seqs.at(-1)!)],
    alike: (older.alike ?? 0) + (newer.alike ?? 0) + 1,
  };
}

function likeness({ kind, what, lines }: CommandEntry): string {
  const program = what.replace(/^cd [^&;\n]+(?:&&|;)\s*/, "").split(/\s/, 1)[0];
  const words = (lines?.[0] ?? "").replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, "#").split(/\s+/);
  return [kind, program, ...words.map((word) => (/\d/.test(word) ? "#" : word))].join(" ");
}
