/**
 * Where a command prints: data on stdout, everything said to the person on stderr. Writes wait for the reader, so that a
 * thread of any size can be printed in constant memory, and a reader that goes away (`| head`) ends the program quietly.
 */
import type { Writable } from "node:stream";

export interface Output {
  readonly color: boolean;
  /** Text for stdout, exactly as given. Await it when printing much. */
  write(text: string): Promise<void>;
  line(text: string): Promise<void>;
  /** Many small pieces in few large writes; stops between two of them when `signal` says so. */
  stream(pieces: AsyncIterable<string>, signal: AbortSignal): Promise<void>;
  /** The one JSON document of `--json`. */
  json(value: unknown): Promise<void>;
  /** A line for the person, on stderr. */
  note(text: string): void;
  /** A line that replaces the one before, where stderr is a terminal. */
  progress(text: string): void;
}

export interface OutputOptions {
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onClosed: () => void;
}

export function createOutput({ stdout, stderr, env, onClosed }: OutputOptions): Output {
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    onClosed();
  });
  // Nobody is left to tell.
  stderr.on("error", () => {});
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      stdout.write(text, (error) =>
        error && (error as NodeJS.ErrnoException).code !== "EPIPE" ? reject(error) : resolve(),
      );
    });
  return {
    color: stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb",
    write,
    line: (text) => write(`${text}\n`),
    stream: (pieces, signal) => writeAll(pieces, write, signal),
    json: (value) => write(`${JSON.stringify(value, null, 2)}\n`),
    note: (text) => void stderr.write(`${text}\n`),
    progress: (text) => void stderr.write(stderr.isTTY ? `\r\u001b[K${text}` : `${text}\n`),
  };
}

const CHUNK = 65_536;

async function writeAll(pieces: AsyncIterable<string>, write: Output["write"], signal: AbortSignal): Promise<void> {
  let held = "";
  for await (const piece of pieces) {
    signal.throwIfAborted();
    held += piece;
    if (held.length < CHUNK) continue;
    await write(held);
    held = "";
  }
  await write(held);
}
