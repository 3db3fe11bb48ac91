/** The one compaction that can't be: no prompt fits the window, whatever is shed. */
import type { Floor } from "@palimpsest/core/compaction";
import { PalimpsestError } from "@palimpsest/core/errors";

/** No prompt exists: what can't be shed exceeds the window. Raised before any provider is called. */
export class FloorError extends PalimpsestError<"floor-exceeds-window"> {
  static override readonly kind = "FloorError";
  readonly floor: Floor;
  /** `configured`: of a window that is smaller because the provider refused more. */
  constructor(floor: Floor, configured?: number) {
    const { fixed, systems, reserve, request, summary, total, window } = floor;
    const learned =
      configured === undefined
        ? ""
        : ` (${configured} are configured, but the provider refused more than this; "palimpsest models forget" forgets that)`;
    super(
      "floor-exceeds-window",
      `the smallest possible prompt needs ${total} tokens and the window has ${window}${learned}: system prompt and tools ${fixed}, ` +
        `system messages and the acknowledgement ${systems}, reserved for the answer ${reserve}, the request ${request}, the summary ${summary}. ` +
        "Use a model with a larger window, fewer tools or a shorter system prompt.",
    );
    this.floor = floor;
  }
}
