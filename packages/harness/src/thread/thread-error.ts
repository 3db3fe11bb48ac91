/** What a thread session throws: what a caller can't go on from without doing something about it. */
import { PalimpsestError } from "@palimpsest/core/errors";

export type ThreadErrorCode =
  /** Somebody else holds the thread, for longer than was waited. */
  | "busy"
  /** The thread was deleted while it was open. */
  | "missing"
  /** The thread was held, and taken over. */
  | "lease-lost"
  /** A message that its shape can't read. Nothing was written. */
  | "bad-message"
  | "closed";

export class ThreadError extends PalimpsestError<ThreadErrorCode> {
  static override readonly kind = "ThreadError";
}
