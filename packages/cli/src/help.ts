/** The help texts, made from the table of commands so that they can't differ from what is accepted. */

import type { Command, CommandModule } from "./command/command.ts";
import { type CommandOption, GLOBAL_OPTIONS, usageOf } from "./command/command.ts";

export function generalHelp(commands: readonly Command[]): string {
  const rows = commands.map((command) => [usageOf(command), command.summary] as const);
  return [
    "palimpsest: conversations of any length in any window, and nothing ever lost.",
    "",
    "Usage: palimpsest COMMAND [options]",
    "",
    ...columns(rows),
    "",
    ...optionRows(GLOBAL_OPTIONS),
    "",
    '"palimpsest COMMAND --help" tells more. Exit codes: 0 done, 1 failed, 2 bad usage.',
  ].join("\n");
}

/** Of the commands that share their first word. */
export function groupHelp(group: readonly Command[]): string {
  const word = group[0]!.name.split(" ")[0];
  return [
    `Usage: palimpsest ${word} COMMAND [options]`,
    "",
    ...columns(group.map((command) => [usageOf(command), command.summary] as const)),
    "",
    `"palimpsest ${word} COMMAND --help" tells more.`,
  ].join("\n");
}

export function commandHelp(command: Command, { remote }: CommandModule<never>): string {
  return [
    `Usage: palimpsest ${usageOf(command)} [options]`,
    "",
    `${command.summary}.`,
    "",
    ...optionRows({ ...command.options, ...globalsOf(command, remote !== undefined) }),
    "",
    "Examples:",
    ...command.examples.map((example) => `  palimpsest ${example}`),
  ].join("\n");
}

/** What every command takes, but for what this one refuses. */
function globalsOf({ withoutJson }: Command, remote: boolean): Readonly<Record<string, CommandOption>> {
  const refused = [...(withoutJson === undefined ? [] : ["json"]), ...(remote ? [] : ["server", "key"])];
  return Object.fromEntries(Object.entries(GLOBAL_OPTIONS).filter(([name]) => !refused.includes(name)));
}

function optionRows(options: Readonly<Record<string, CommandOption>>): string[] {
  return columns(
    Object.entries(options).map(([name, option]) => [
      `${option.short ? `-${option.short}, ` : ""}--${name}${option.kind === "flag" ? "" : ` ${option.value}`}`,
      option.help,
    ]),
  );
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
