/**
 * The boundary for messages from outside: checks a parsed JSON value far enough that the dialect's shape can read it, and
 * names the first thing wrong. Blocks and fields we don't know are welcome: they are carried as they are.
 */
import type { MessageProblem } from "./dialect.ts";
import { type Dialect, definitionOf, type MessageOf } from "./dialects.ts";

export type ReadResult<M> =
  | { readonly kind: "message"; readonly message: M }
  | ({ readonly kind: "problem" } & MessageProblem);

export function readMessage<D extends Dialect>(dialect: D, value: unknown): ReadResult<MessageOf[D]> {
  const problem = definitionOf(dialect).check(value);
  if (problem !== null) return { kind: "problem", ...problem };
  return { kind: "message", message: value as MessageOf[D] }; // every field that a shape reads is checked
}
