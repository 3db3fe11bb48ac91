/** A prompt that ends with an answer is sent with a word that asks for the next one. */
import { type RuleSet, repair, type Shape } from "@palimpsest/core/message";

/** What a list that keeps all other rules needs to be sent. */
const LAST_RULE: RuleSet = { name: "request", rules: ["ends-with-request"] };

export function endingWithRequest<M>(messages: readonly M[], shape: Shape<M>): readonly M[] {
  const last = messages.at(-1);
  const role = last === undefined ? null : shape.role(last);
  return role === "user" || role === "tool" ? messages : repair(messages, shape, LAST_RULE).messages;
}
