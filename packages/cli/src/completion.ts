/**
 * Scripts that let a shell complete commands and options. Made from the table of commands, so that they can't differ from
 * what is accepted; they run nothing when a key is pressed.
 */

import type { Command, CommandRun } from "./command/command.ts";
import { type CommandOption, GLOBAL_OPTIONS } from "./command/command.ts";
import { UsageError } from "./command/failure.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

export function printCompletion(commands: readonly Command[]): CommandRun {
  return async ({ positionals }, { output }) => {
    const shell = SHELLS.find((one) => one === positionals[0]);
    if (shell === undefined) throw new UsageError(`SHELL is one of ${SHELLS.join(", ")}.`);
    await output.styled(completionScript(shell, commands));
    return 0;
  };
}

export function completionScript(shell: Shell, commands: readonly Command[]): string {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      // zsh runs bash's completions as they are.
      return `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
    case "fish":
      return fish(commands);
  }
}

function bash(commands: readonly Command[]): string {
  const cases = commands.map(({ name, options }) => `    "${name}") words="${optionWords(options)}" ;;`);
  const groups = [...secondWords(commands)].map(([first, words]) => `    "${first}") seconds="${words.join(" ")}" ;;`);
  return `_palimpsest() {
  local current="\${COMP_WORDS[COMP_CWORD]}" first="\${COMP_WORDS[1]}" words="" seconds=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${firstWords(commands).join(" ")}" -- "$current"))
    return
  fi
  case "$first" in
${groups.join("\n")}
  esac
  if [ "$COMP_CWORD" -eq 2 ] && [ -n "$seconds" ] && [ "\${current#-}" = "$current" ]; then
    COMPREPLY=($(compgen -W "$seconds" -- "$current"))
    return
  fi
  local name="$first"
  [ -n "$seconds" ] && case " $seconds " in *" \${COMP_WORDS[2]} "*) name="$first \${COMP_WORDS[2]}" ;; esac
  case "$name" in
${cases.join("\n")}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words ${optionWords(GLOBAL_OPTIONS)}" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}
complete -o filenames -F _palimpsest palimpsest
`;
}

function fish(commands: readonly Command[]): string {
  const seconds = secondWords(commands);
  const summaryOf = (name: string): string => commands.find((one) => one.name === name)?.summary ?? "";
  const lines = firstWords(commands).map(
    (word) => `complete -c palimpsest -n __fish_use_subcommand -a ${word} -d ${quoted(summaryOf(word) || word)}`,
  );
  for (const [first, words] of seconds)
    for (const word of words) {
      const when = quoted(
        `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${words.join(" ")}`,
      );
      lines.push(`complete -c palimpsest -n ${when} -a ${word} -d ${quoted(summaryOf(`${first} ${word}`))}`);
    }
  for (const { name, options } of commands) {
    const when = quoted(
      name
        .split(" ")
        .map((word) => `__fish_seen_subcommand_from ${word}`)
        .join("; and "),
    );
    for (const [option, spec] of Object.entries(options))
      lines.push(`complete -c palimpsest -n ${when} ${fishOption(option, spec)}`);
  }
  for (const [option, spec] of Object.entries(GLOBAL_OPTIONS))
    lines.push(`complete -c palimpsest ${fishOption(option, spec)}`);
  return `${lines.join("\n")}\n`;
}

function fishOption(name: string, option: CommandOption): string {
  const short = option.short === undefined ? "" : ` -s ${option.short}`;
  return `-l ${name}${short}${option.kind === "flag" ? "" : " -r"} -d ${quoted(option.help)}`;
}

function firstWords(commands: readonly Command[]): string[] {
  return [...new Set(commands.map(({ name }) => name.split(" ")[0]!)), "help"];
}

function secondWords(commands: readonly Command[]): ReadonlyMap<string, string[]> {
  const words = new Map<string, string[]>();
  for (const { name } of commands) {
    const [first, second] = name.split(" ") as [string, string?];
    if (second !== undefined) words.set(first, [...(words.get(first) ?? []), second]);
  }
  return words;
}

function optionWords(options: Readonly<Record<string, CommandOption>>): string {
  return Object.keys(options)
    .map((name) => `--${name}`)
    .join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
