/**
 * What a tool says when it can't do what was asked: a sentence the model can act on. It is thrown out of a tool's
 * `execute` and becomes the call's error result; it never holds a path of the host.
 */

import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { errorCode } from "@palimpsest/core/internal/text";

export class ToolFailure extends PalimpsestError<"tool-failed"> {
  static override readonly kind = "ToolFailure";

  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super("tool-failed", message, options);
  }
}

const MEANINGS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  ENOTDIR: "is not a folder, or one of its parents is a file",
  EISDIR: "is a folder",
  ELOOP: "is or leads through a symbolic link; links are not followed",
  EACCES: "can't be accessed: permission denied",
  EPERM: "can't be changed: not permitted",
  EROFS: "lies on a read-only file system",
  ENOSPC: "could not be written: the disk is full. Remove files or write less",
  EDQUOT: "could not be written: the disk quota is used up. Remove files or write less",
  EFBIG: "is too large",
  ENAMETOOLONG: "has a name that is too long",
  EMFILE: "could not be opened: too many files are open; try again",
  ENFILE: "could not be opened: too many files are open; try again",
  EEXIST: "exists already",
  ENOTEMPTY: "is a folder that is not empty",
  ESTALE: "vanished while it was being used",
  EIO: "could not be read or written: the disk reports an error",
};

/** The failure in terms of the virtual path. Node's own message names the host's path, so it isn't repeated. */
export function failureFor(path: string, error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error;
  const code = errorCode(error);
  const meaning = code === null ? undefined : MEANINGS[code];
  return new ToolFailure(`${path} ${meaning ?? `could not be used (${code ?? "unexpected error"})`}.`, {
    cause: error,
  });
}
