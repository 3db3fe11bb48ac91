/** How a provider fails its client: it can't be reached, breaks off, sends the request elsewhere, says too much or nothing. */
import { PalimpsestError } from "@palimpsest/core/errors";

/** The message is for the operator's log. */
export class UpstreamError extends PalimpsestError<"unreachable" | "redirected" | "answer-too-long" | "timed-out"> {
  static override readonly kind = "UpstreamError";
  /** What a client is told: without addresses of the operator's. */
  readonly told: string;

  constructor(
    code: UpstreamError["code"],
    told: string,
    more: { readonly message?: string; readonly cause?: unknown } = {},
  ) {
    super(code, more.message ?? told, more);
    this.told = told;
  }
}
