/**
 * What a store throws when it can't go on: a code to branch on and a sentence that says what to do. Outcomes a caller
 * plans for (a conflict, a lost lease) are values and never come through here.
 */
import { PalimpsestError } from "@palimpsest/core/internal/errors";

export type StoreErrorCode =
  | "locked"
  | "corrupt"
  | "full"
  | "unwritable"
  | "newer-version"
  | "io"
  | "closed"
  | "bad-url"
  | "unavailable"
  | "unauthorized"
  | "unsuitable";

export class StoreError extends PalimpsestError<StoreErrorCode> {
  static override readonly kind = "StoreError";

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(code, message, { cause });
  }
}
