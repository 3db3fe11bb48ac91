/**
 * Reasoning bound to its prefix, in a playback: what would be sent to a model that binds, and a judge of its own that knows
 * for each thought the very text it was made behind. The judge shares no code with the rule it checks.
 */
import { createHash } from "node:crypto";
import { boundReasoning, type Shape, signaturesOf } from "@palimpsest/core/internal/message";
import { sha256 } from "../../src/thread/writer.ts";

export interface BoundPlayback<M> {
  /** The request as it is sent, with the thoughts that may still be shown. */
  send(messages: readonly M[]): {
    readonly messages: readonly M[];
    readonly misplaced: number;
    readonly thoughts: number;
  };
  /** The answer to the request sent last. */
  answered(message: M): void;
}

export function boundPlayback<M extends object>(shape: Shape<M>): BoundPlayback<M> {
  const made = new Map<string, { readonly prefix: string; readonly text: string }>();
  let last = { prefix: "", text: "" };
  return {
    send(messages) {
      const options = { shape, hash: sha256, fixed: "fixed", madeUnder: (one: string) => made.get(one)?.prefix };
      const bound = boundReasoning(messages, options);
      const whole = createHash("sha256");
      let misplaced = 0;
      let thoughts = 0;
      for (const message of bound.messages) {
        const text = whole.copy().digest("hex");
        const signatures = signaturesOf(shape.parts(message));
        thoughts += signatures.length;
        misplaced += signatures.filter((signature) => made.get(signature)?.text !== text).length;
        whole.update(JSON.stringify(message));
      }
      last = { prefix: bound.prefix, text: whole.digest("hex") };
      return { messages: bound.messages, misplaced, thoughts };
    },
    answered(message) {
      for (const signature of signaturesOf(shape.parts(message))) made.set(signature, last);
    },
  };
}
