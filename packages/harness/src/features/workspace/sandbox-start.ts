/** Why the sandboxed shell could not start at all, told apart from a command that failed in it. Pure. */
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { explainMissing, isModuleNotFound } from "../../optional-package.ts";

/** Null: it had started. */
export function startFailure(error: Error): PalimpsestError | null {
  if (!isModuleNotFound(error)) return null;
  const explained = explainMissing(error);
  if (PalimpsestError.isInstance(explained)) return explained;
  return new PalimpsestError(
    "missing-worker",
    "The sandboxed shell behind `bash` can't start: its worker is not beside the program. In a bundle of one file, make palimpsest's dist/workspace/sandbox-worker.js a second entry point, or leave palimpsest out of the bundle.",
    { cause: error },
  );
}
