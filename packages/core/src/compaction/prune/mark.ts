/**
 * How a pruned part is recognized: by the mark every replacement begins with. It makes pruning idempotent without any
 * state beside the view. A tool whose real output begins with the mark is left alone, which is harmless.
 */
import type { CallPart, ImagePart, ResultPart } from "../../message/shape.ts";

export const PRUNED = "[pruned";

export function isPruned(part: CallPart | ResultPart | ImagePart): boolean {
  switch (part.kind) {
    case "result":
      return part.text.startsWith(PRUNED);
    case "call":
      return part.input.includes(`"${PRUNED}`);
    case "image":
      return false;
  }
}
