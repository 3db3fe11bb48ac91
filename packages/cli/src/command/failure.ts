/** The two ways a command ends early, and the one place that turns anything thrown into a sentence and an exit code. */

import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { errorCode } from "@palimpsest/core/internal/text";

/** The command line itself is wrong: exit code 2. */
export class UsageError extends PalimpsestError<"usage"> {
  static override readonly kind = "UsageError";
  /** An unknown word and the known ones that it may have been meant for. */
  readonly unknown: { readonly word: string; readonly known: readonly string[] } | null;

  constructor(message: string, unknown: UsageError["unknown"] = null) {
    super("usage", message);
    this.unknown = unknown;
  }
}

/** The thing asked for failed in an expected way: exit code 1. The message says what to do next. */
export class Failure extends PalimpsestError {
  static override readonly kind = "Failure";
}

export interface Ending {
  readonly exitCode: number;
  readonly code: string;
  readonly message: string;
  /** What can't be shed, part by part, when no prompt fits the window. */
  readonly floor?: unknown;
}

export async function endingOf(error: unknown): Promise<Ending> {
  if (UsageError.isInstance(error))
    return { exitCode: 2, code: error.code, message: `${error.message}${await suggestion(error)}` };
  if (!(error instanceof Error)) return unexpected(String(error));
  if (error.name === "AbortError") return { exitCode: 130, code: "interrupted", message: "Interrupted." };
  if (Failure.isInstance(error)) return { exitCode: 1, code: error.code, message: error.message };
  if (PalimpsestError.isInstance(error))
    return {
      exitCode: 1,
      code: error.code,
      message: sentence(error.message),
      ...("floor" in error && { floor: error.floor }),
    };
  const code = errorCode(error);
  if (code !== null && Object.hasOwn(SYSTEM, code))
    return { exitCode: 1, code, message: `${SYSTEM[code]} (${error.message})` };
  return unexpected(error.message);
}

async function suggestion({ unknown }: UsageError): Promise<string> {
  if (unknown === null) return "";
  const { nearest } = await import("palimpsest/internal/config");
  const meant = nearest(unknown.word, unknown.known);
  return meant === null ? "" : ` Did you mean "${meant}"?`;
}

/** A first word that is a file's name or a key stays as it is. */
export function sentence(text: string): string {
  return text.replace(/^[a-z](?=[a-z']*[ ,])/, (letter) => letter.toUpperCase());
}

function unexpected(message: string): Ending {
  return {
    exitCode: 1,
    code: "unexpected",
    message: `Unexpected error: ${message}. Run again with PALIMPSEST_DEBUG=1 to see where, and please report it.`,
  };
}

const SYSTEM: Readonly<Record<string, string>> = {
  ENOSPC: "The disk is full: make room and run the command again.",
  EDQUOT: "The disk quota is used up: make room and run the command again.",
  EACCES: "Permission denied: check the owner and mode of the path, or choose another --home.",
  EPERM: "Not permitted: check the owner and mode of the path, or choose another --home.",
  EROFS: "The file system is read-only: choose another --home.",
  ENOENT: "There is no such file or directory: check the path.",
  EISDIR: "This is a directory where a file is needed: check the path.",
  ENOTDIR: "A part of the path is a file, not a directory: choose another --home.",
  EMFILE: "Too many open files: close some programs and run the command again.",
};
