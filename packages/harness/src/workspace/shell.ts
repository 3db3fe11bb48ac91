/** The port of the `bash` tool: a function that carries out one command, and how its limits and results are said. */

export type Shell = (command: string, options: ShellOptions) => Promise<ShellResult>;

export interface ShellOptions {
  readonly timeoutMs: number;
  /** Of both streams together. */
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
}

export interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Which limit ended it, if one did. */
  readonly cut: "time" | "output" | "work" | null;
}
