/**
 * Where a command prints: data on stdout, everything said to the person on stderr. Whatever is printed is first made safe
 * for a terminal, wherever its words came from; only what this program styled itself goes out as it is. Writes wait for
 * the reader, so that a thread of any size can be printed in constant memory, and a reader that goes away (`| head`) ends
 * the program quietly.
 */
import type { Writable } from "node:stream";
import type { CopyProgress } from "palimpsest/threads";
import { plain, printable, safeJson } from "./text.ts";

export interface Output {
  readonly color: boolean;
  /** Text for stdout. Await it when printing much. */
  write(text: string): Promise<void>;
  /** Text for stdout exactly as given, styles included: what others wrote must have been made safe before it got its style. */
  styled(text: string): Promise<void>;
  line(text: string): Promise<void>;
  /** Many small pieces in few large writes; stops between two of them when `signal` says so. */
  stream(pieces: AsyncIterable<string>, options: StreamOptions): Promise<void>;
  /** The one JSON document of `--json`. */
  json(value: unknown): Promise<void>;
  /** A line for the person, on stderr. */
  note(text: string): void;
  /** A line for the person that, at a terminal, makes room for whatever is printed next. */
  progress(text: string): void;
}

interface StreamOptions {
  readonly signal: AbortSignal;
  /** `exact`: JSON that goes to another program byte for byte; at a terminal it is made safe as `json` is. */
  readonly as: "text" | "json" | "exact";
}

export interface OutputOptions {
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onClosed: () => void;
}

export function createOutput({ stdout, stderr, env, onClosed }: OutputOptions): Output {
  // What fails otherwise, such as a full disk, rejects the write itself.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isClosed(error)) onClosed();
  });
  // The reader has left.
  stderr.on("error", () => {});
  let passing = "";
  const clear = () => {
    if (passing !== "") stderr.write(passing);
    passing = "";
  };
  const styled = (text: string) => {
    clear();
    return new Promise<void>((resolve, reject) => {
      stdout.write(text, (error) => (error && !isClosed(error) ? reject(error) : resolve()));
    });
  };
  return {
    color: stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb",
    write: (text) => styled(plain(text)),
    styled,
    line: (text) => styled(`${plain(text)}\n`),
    stream: (pieces, { signal, as }) => {
      const safe = as === "text" ? plain : as === "json" || stdout.isTTY === true ? safeJson : asIs;
      return writeAll(pieces, (text) => styled(safe(text)), signal);
    },
    json: (value) => styled(`${safeJson(JSON.stringify(value, null, 2))}\n`),
    note: (text) => {
      clear();
      stderr.write(`${plain(text)}\n`);
    },
    progress: (text) => {
      clear();
      stderr.write(stderr.isTTY ? printable(text) : `${plain(text)}\n`);
      if (stderr.isTTY) passing = "\r\u001b[K";
    },
  };
}

function asIs(text: string): string {
  return text;
}

/** The reader has gone away. */
function isClosed(error: NodeJS.ErrnoException): boolean {
  return error.code === "EPIPE";
}

const CHUNK = 65_536;

async function writeAll(pieces: AsyncIterable<string>, write: Output["write"], signal: AbortSignal): Promise<void> {
  let rest = "";
  for await (const piece of pieces) {
    signal.throwIfAborted();
    rest += piece;
    if (rest.length < CHUNK) continue;
    await write(rest);
    rest = "";
  }
  await write(rest);
}

/* Progress of long work: at a terminal soon and often, elsewhere only when it takes long. */

export function throttled<A extends readonly unknown[]>(
  { progress }: Pick<Output, "progress">,
  text: (...told: A) => string,
): (...told: A) => void {
  let last = Date.now();
  return (...told) => {
    const now = Date.now();
    if (now - last < (process.stderr.isTTY ? 200 : 5000)) return;
    last = now;
    progress(text(...told));
  };
}

/* What is told while threads and memories are copied from one store to another. */

export function copyProgress(output: Output): (progress: CopyProgress) => void {
  return throttled(output, (progress: CopyProgress) =>
    "memories" in progress
      ? `${progress.memories} memories`
      : `${progress.threadId}: ${progress.records} of ${progress.of} records`,
  );
}
