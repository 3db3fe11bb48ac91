/** Why the sandboxed shell could not start at all, told apart from a command that failed in it. Pure. */
import { PalimpsestError } from "@palimpsest/core/errors";
import { isMissing, missingPackage } from "../optional-package.ts";
import { codeOf } from "./tool-failure.ts";

/** Null: it had started. */
export function startFailure(error: Error): PalimpsestError | null {
  if (isMissing("just-bash", error)) return missingPackage("just-bash", error);
  if (codeOf(error) !== "ERR_MODULE_NOT_FOUND" && codeOf(error) !== "MODULE_NOT_FOUND") return null;
  return new PalimpsestError(
    "missing-worker",
    "The sandboxed shell behind `bash` can't start: its worker is not beside the program. In a bundle of one file, make palimpsest's dist/workspace/sandbox-worker.js a second entry point, or leave palimpsest out of the bundle.",
    { cause: error },
  );
}
