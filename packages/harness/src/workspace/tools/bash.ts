/** `bash`: one command, its output and exit code, and what cut it short if something did. */
import { type Tool, tool } from "ai";
import { z } from "zod/v4";
import { toolFacts } from "../../tool-facts.ts";
import type { Shell, ShellResult } from "../shell.ts";

const MAX_OUTPUT = 4 << 20;
const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;

const INPUT = z.object({
  command: z.string().min(1),
  timeout_seconds: z.number().positive().max(MAX_SECONDS).default(DEFAULT_SECONDS),
});

export function bashTool(shell: Shell, kind: "sandbox" | "host"): Tool {
  const where =
    kind === "sandbox"
      ? "in a sandboxed bash with the usual text tools (grep, sed, awk, jq, find, sort, tar, sqlite3, ...), without network, compilers or other programs"
      : "on the host machine";
  return tool({
    description: `Run a command ${where}. It starts in /mnt/user-data/workspace; files persist, variables and the current folder don't.`,
    metadata: toolFacts({ act: "run", text: "command" }),
    inputSchema: INPUT,
    execute: async ({ command, timeout_seconds = DEFAULT_SECONDS }, { abortSignal }): Promise<string> => {
      const signal = abortSignal ?? new AbortController().signal;
      const timeoutMs = timeout_seconds * 1000;
      const result = await shell(command, { timeoutMs, maxOutputBytes: MAX_OUTPUT, signal });
      return describe(result, timeout_seconds);
    },
  });
}

function describe({ stdout, stderr, exitCode, cut }: ShellResult, seconds: number): string {
  const cuts = {
    time: `[stopped: the command did not end within ${seconds} seconds]`,
    output: `[stopped: the command printed more than ${MAX_OUTPUT >> 20} MB; redirect it to a file or filter it]`,
    work: "[stopped: the command met a limit of the sandbox; do less at once]",
  };
  const parts = [
    stdout,
    stderr === "" ? "" : `[stderr]\n${stderr}`,
    cut === null ? "" : cuts[cut],
    exitCode === 0 ? "" : `[exit code: ${exitCode}]`,
  ];
  const text = parts.filter((part) => part !== "").map((part) => part.replace(/\n$/, ""));
  return text.length === 0 ? "(no output)" : text.join("\n");
}
