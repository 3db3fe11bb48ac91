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
  /** A line for the person that, at a terminal, makes room for whatever is printed next. */
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
    if (!isClosed(error)) throw error;
    onClosed();
  });
  // Nobody is left to tell.
  stderr.on("error", () => {});
  let passing = "";
  const clear = () => {
    if (passing !== "") stderr.write(passing);
    passing = "";
  };
  const write = (text: string) => {
    clear();
    return new Promise<void>((resolve, reject) => {
      stdout.write(text, (error) => (error && !isClosed(error) ? reject(error) : resolve()));
    });
  };
  return {
    color: stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb",
    write,
    line: (text) => write(`${text}\n`),
    stream: (pieces, signal) => writeAll(pieces, write, signal),
    json: (value) => write(`${JSON.stringify(value, null, 2)}\n`),
    note: (text) => {
      clear();
      stderr.write(`${text}\n`);
    },
    progress: (text) => {
      clear();
      stderr.write(stderr.isTTY ? text : `${text}\n`);
      if (stderr.isTTY) passing = "\r\u001b[K";
    },
  };
}

/** The reader has gone away. */
function isClosed(error: NodeJS.ErrnoException): boolean {
  return error.code === "EPIPE";
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
