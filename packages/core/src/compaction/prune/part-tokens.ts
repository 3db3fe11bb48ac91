/** What the prunable parts of a message weigh. */
import type { Shape } from "../../message/shape.ts";
import type { Measure } from "../clamp.ts";
import { perMessage } from "../per-message.ts";

const counted = perMessage<readonly number[]>();

/** Zero for parts that are never pruned. */
export function partTokens<M>(message: M, shape: Shape<M>, measure: Measure<M>): readonly number[] {
  const lost = (rest: M): number => Math.max(0, measure.message(message) - measure.message(rest));
  return counted(message, measure, () =>
    shape.parts(message).map((part, index) => {
      if (part.kind === "call") return measure.text(part.input);
      if (part.kind === "result" && part.images.length === 0) return measure.text(part.text);
      // A picture has no text to count: it weighs what the message loses without it.
      if (part.kind === "result") return lost(shape.withPart(message, index, { ...part, text: "", images: [] }));
      if (part.kind === "image") return lost(shape.withPart(message, index, { kind: "text", text: "" }));
      return 0;
    }),
  );
}
